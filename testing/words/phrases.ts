/**
 * Words and constructions to avoid, because they are hard to read or are not usual technical terms, each with a
 * replacement.
 */
export type Phrase = { pattern: RegExp; better: string }

export const phrases: readonly Phrase[] = [
  {
    // Outside a clone, npx would run a stranger's program.
    pattern: /\bnpx shoal (?!--version)[a-z-]/,
    better: '“./shoal” in a clone, otherwise “shoal”',
  },
  {
    pattern:
      /\b(at most )?so (long|much|many|often|few) (?!as\b|that\b)\w+ (may|must|can|is|are)\b/i,
    better: 'a maximum: “up to 5 s”, “at most 5”',
  },
  { pattern: /\b(at most|for) so (long|much|many|often)\b/i, better: '“maximum …”, “this long”' },
  { pattern: /^So (long|much|many|often|few)\b/, better: '“maximum …”, “how long …”' },
  {
    pattern:
      /(^|[.;] )Who(ever)? (?!(am|are|is|was|were|can|could|did|does|do|has|have|should|will|would)\b)\w+/,
    better: '“anyone who”, “users who”, “clients that”',
  },
  { pattern: /\b(is|are|was|were) told\b/i, better: '“is notified”, “is reported”, “sees”' },
  { pattern: /\b(nobody|nothing|none) (\w+ )?but\b/i, better: '“only”' },
  { pattern: /\bis (here|there) whole\b/i, better: '“is complete”, “is fully downloaded”' },
  { pattern: /\bha(s|ve) (it|them) whole\b/i, better: '“has all of it”' },
  { pattern: /\bin vain\b/i, better: '“without success”' },
  { pattern: /\bmend(s|ed|ing)?\b/i, better: '“fix”, “repair”' },
  { pattern: /\banew\b/i, better: '“again”' },
  { pattern: /\bprint(ed|s)? by the (server|registry)\b/i, better: '“rendered on the server”' },
  {
    pattern:
      /\bfor (members|admins|administrators|owners) alone\b|\bon this (machine|computer) alone\b/i,
    better: '“only”',
  },
  { pattern: /\bpatien(ce|t)\b/i, better: '“timeout”, “retry”' },
  { pattern: /\btroubles?\b(?!shoot)/i, better: '“error”, “failure”, “problem”' },
  { pattern: /\bsurroundings\b/i, better: '“environment”' },
  { pattern: /\bstandings?\b/i, better: '“status”' },
  { pattern: /\bcrew\b/i, better: '“worker pool”' },
  { pattern: /\bhands? that\b/i, better: '“workers”' },
  { pattern: /\bas (the system|it) has it\b/i, better: '“match …”, “as in …”' },
  { pattern: /\b(has|have) (its|their) turn\b/i, better: '“is asked first”' },
  { pattern: /\b(is|are)(n’t| not) yours to\b/i, better: '“you can’t …”' },
  { pattern: /\bcome back to here\b/i, better: '“return to this page”' },
  { pattern: /\bshown (it )?this once\b/i, better: '“you won’t be able to see it again”' },
  { pattern: /\bkeeps? (a|this|the) registry\b/i, better: '“administer the registry”' },
  { pattern: /\bend(s|ed)? in order\b/i, better: '“shuts down gracefully”' },
  { pattern: /\bno look at\b|\ba look at the\b/i, better: '“could not poll”, “could not read”' },
  { pattern: /\b(takes|lasts) as long whatever\b/i, better: '“constant-time”' },
]
