/** Allows white space before the value of a grammar made by `jsonGrammar`, which defines the rule `space`. */
export const withLeadingSpace = (grammar: string): string =>
  grammar.replace(/^root ::= (.*)$/m, 'root ::= space json-value\njson-value ::= $1')
