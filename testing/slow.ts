/**
 * Tests that take long beside what they cover, such as other people's BitTorrent clients, run where everything does (`.ci/run`)
 * and where they are asked for: `SHOAL_TEST_SLOW=1 npx vitest run FILE`.
 */
export const runsSlowTests = Boolean(
  process.env.SHOAL_TEST_EVERYTHING || process.env.SHOAL_TEST_SLOW,
)
export const withSlowTests = 'with SHOAL_TEST_SLOW or SHOAL_TEST_EVERYTHING'
