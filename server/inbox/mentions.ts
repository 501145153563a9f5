import { callingText } from './comment-text.ts'

/** `@name` and `@address` in comments. Pure. */

export type Nameable = { readonly id: string; readonly name: string; readonly email: string }

/** Who is meant, and how it was written, `@` included. */
export type Mention = { readonly written: string; readonly userId: string }

/** More signs than these of one comment are no longer looked at. */
const MAX_SIGNS = 500
/** Longer than any name or address. */
const MAX_CHARACTERS = 254

/** Before the sign: nothing, or what cannot belong to an address. */
const WORD = /[\p{L}\p{N}_.+-]/u
const ENDS = /[\p{L}\p{N}_]/u

const fold = (text: string): string => text.normalize('NFC').toLowerCase()

/** What members can be called by; null where two could be meant. */
function namesOf(members: readonly Nameable[]): ReadonlyMap<string, string | null> {
  const names = new Map<string, string | null>()
  const add = (name: string, id: string) => {
    const folded = fold(name.trim())
    if (folded !== '') names.set(folded, names.has(folded) && names.get(folded) !== id ? null : id)
  }
  const firsts = new Map<string, string | null>()
  for (const { id, name } of members) {
    add(name, id)
    const [first = ''] = fold(name.trim()).split(/\s+/u)
    if (first !== '') firsts.set(first, firsts.has(first) ? null : id)
  }
  // A whole name goes before somebody's first name; an address is one person's anyway.
  for (const [first, id] of firsts) if (!names.has(first)) names.set(first, id)
  for (const { id, email } of members) names.set(fold(email), id)
  return names
}

/**
 * Members named in a text, each spelling once. The longest name that fits counts; where it could mean two people it
 * means nobody. A first name does where only one member has it.
 */
export function mentionsIn(body: string, members: readonly Nameable[]): Mention[] {
  if (!body.includes('@')) return []
  const names = namesOf(members)
  const text = callingText(body)
  const found = new Map<string, string>()
  // A letter with its marks apart is up to three characters where it was one.
  const most = Math.min(MAX_CHARACTERS, 3 * Math.max(0, ...[...names.keys()].map((name) => name.length)))
  let signs = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (++signs > MAX_SIGNS) break
    if (at > 0 && WORD.test(text.charAt(at - 1))) continue
    const following = text.slice(at + 1, at + 1 + most)
    for (const end of endsOf(following)) {
      const name = following.slice(0, end)
      const id = names.get(fold(name))
      if (id === undefined) continue
      if (id !== null) found.set(`@${name}`, id)
      break
    }
  }
  return [...found].map(([written, userId]) => ({ written, userId }))
}

/** Where a name could end: after a word, longest first, on its line. */
function endsOf(text: string): number[] {
  const [line = ''] = text.split('\n', 1)
  const ends: number[] = []
  for (let end = line.length; end > 0; end--)
    if (!(ENDS.test(line.charAt(end - 1)) && ENDS.test(line.charAt(end)))) ends.push(end)
  return ends
}
