/**
 * Whether to run slow tests, such as those with other BitTorrent clients. They run when all tests run (`.ci/run`), or
 * on request: `SHOAL_TEST_SLOW=1 npx vitest run FILE`.
 */
export const runsSlowTests = Boolean(
  process.env.SHOAL_TEST_EVERYTHING || process.env.SHOAL_TEST_SLOW,
)
export const withSlowTests = 'with SHOAL_TEST_SLOW or SHOAL_TEST_EVERYTHING'
