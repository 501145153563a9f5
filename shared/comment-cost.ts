/** Fenced code: its content costs nothing to parse. */
const FENCED = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm
const EMPHASIS_OR_BRACKET = /[*_[\]!<&`]/g
/** Lists and quotes nested 20 deep. */
const NESTED = /^[ \t]*(?:>[ \t]*|(?:[-+*]|\d{1,9}[.)])[ \t]+){20}/m
/** Markers of lists and quotes before the text of a line. */
const LINE_PREFIX = /^[ \t]*(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*)+/gm
const MAX_EMPHASIS_OR_BRACKETS = 400
const MAX_PREFIX_CHARACTERS = 3_000
const MAX_LINES = 1_500

/**
 * Whether parsing a comment as Markdown could take seconds: the cost of emphasis and brackets grows with the square of
 * their number, the cost of nested lists with their depth, and thousands of lines or line prefixes are slow too. The server
 * then looks for mentions in the plain text, and the dashboard shows the comment as it was typed.
 */
export function isCostlyMarkdown(body: string): boolean {
  if (NESTED.test(body)) return true
  const parsed = body.replace(FENCED, '')
  const prefixCharacters = (parsed.match(LINE_PREFIX) ?? []).reduce((sum, { length }) => sum + length, 0)
  return (
    (parsed.match(EMPHASIS_OR_BRACKET)?.length ?? 0) > MAX_EMPHASIS_OR_BRACKETS ||
    prefixCharacters > MAX_PREFIX_CHARACTERS ||
    parsed.split('\n').length > MAX_LINES
  )
}
