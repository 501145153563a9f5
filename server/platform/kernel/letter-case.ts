/**
 * Letter case in regular expressions, written out as classes: `(?i:ab)` becomes `(?:[Aa][Bb])`.
 *
 * V8 forgets the modifiers `(?i:` and `(?-i:` of choices when it compiles without optimisation, which it does once a
 * process holds much compiled code of regular expressions (`node --no-regexp-optimization` shows it). What a rule
 * matches would then depend on what its process did before. Frozen with the groupings that depend on it.
 */

/** An escape, a class, the start of a group, or one character. */
const TOKEN =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|k<[^>]*>|.)|\[(?:\\.|[^\]\\])*\]|\(\?(?<modifier>-?i):|\(\?<\w+>|\(\?<?[:=!]|./gisu
/** An escape or a character of a class, with the end of its range. */
const MEMBER =
  /(?<escape>\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|.))|(?<from>[^\\])(?:-(?<to>[^\]\\]))?/gisu

/**
 * The source of an expression whose modifiers `(?i:` and `(?-i:` are written out; for the flag `u` or none. Letters are
 * those of ASCII.
 * @param ignoresCase whether letters outside of modifiers stand for both cases
 */
export function writeOutCase(source: string, ignoresCase = false): string {
  const outer: boolean[] = []
  let ignores = ignoresCase
  return source.replace(TOKEN, (token: string, modifier: string | undefined) => {
    if (token.startsWith('(')) {
      outer.push(ignores)
      if (modifier === undefined) return token
      ignores = modifier === 'i'
      return '(?:'
    }
    if (token === ')') ignores = outer.pop() ?? ignoresCase
    if (!ignores || token.startsWith('\\')) return token
    if (token.startsWith('[')) return bothCasesOf(token)
    const other = otherCase(token)
    return other === token ? token : `[${token}${other}]`
  })
}

/** A class whose ranges are there in both cases. */
function bothCasesOf(letters: string): string {
  const start = letters.startsWith('[^') ? '[^' : '['
  const inner = letters.slice(start.length, -1)
  let added = ''
  for (const { groups } of inner.matchAll(MEMBER)) {
    const from = groups?.['from']
    if (from === undefined) continue
    const to = groups?.['to'] ?? from
    added += otherRange(from, to, 'a', 'z') + otherRange(from, to, 'A', 'Z')
  }
  return `${start}${inner.endsWith('-') && added !== '' ? `${inner.slice(0, -1)}${added}-` : inner + added}]`
}

/** The part of a range that lies within an alphabet, in the other case. */
function otherRange(from: string, to: string, first: string, last: string): string {
  const low = from > first ? from : first
  const high = to < last ? to : last
  if (low > high) return ''
  return low === high ? otherCase(low) : `${otherCase(low)}-${otherCase(high)}`
}

function otherCase(letter: string): string {
  if (/^[a-z]$/.test(letter)) return letter.toUpperCase()
  return /^[A-Z]$/.test(letter) ? letter.toLowerCase() : letter
}
