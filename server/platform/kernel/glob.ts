/** The cost of a match is bounded by this times the length of the text. */
export const MAX_GLOB_CHARACTERS = 200

/** Further characters of a text are ignored. */
const MAX_TEXT_CHARACTERS = 8_192

/** A compiled glob. */
export type Glob = (text: string) => boolean

/**
 * `*` matches any characters, other characters match themselves in either case. Without backtracking: a piece between two
 * stars is matched at its first occurrence, which is always right when a star follows.
 */
export function compileGlob(glob: string): Glob {
  const pieces = glob.toLowerCase().split('*')
  const [first = '', ...rest] = pieces
  const last = rest.pop()
  // Lower case may be longer than the original (`İ`), never shorter.
  if (last === undefined) return (text) => text.length <= first.length && text.toLowerCase() === first
  const shortest = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return (text) => {
    const subject = text.slice(0, MAX_TEXT_CHARACTERS).toLowerCase()
    if (subject.length < shortest || !subject.startsWith(first) || !subject.endsWith(last)) return false
    let at = first.length
    for (const piece of rest) {
      const found = subject.indexOf(piece, at)
      if (found < 0) return false
      at = found + piece.length
    }
    return at <= subject.length - last.length
  }
}
