import { isCostlyMarkdown } from '#shared/comment-cost.ts'
import { fromMarkdown } from 'mdast-util-from-markdown'

/** `@name` and `@address` in comments. Pure. */

type Nameable = { readonly id: string; readonly name: string; readonly email: string }

/** The mentioned user, and the text of the mention with its `@`. */
export type Mention = { readonly written: string; readonly userId: string }

/** Further `@` of a comment are ignored. */
const MAX_SIGNS = 500
/** Longer than any name or address. */
const MAX_CHARACTERS = 254

/** The `@` of a mention begins the text, or follows a character that is not part of an address. */
const WORD = /[\p{L}\p{N}_.+-]/u
const ENDS = /[\p{L}\p{N}_]/u

const fold = (text: string): string => text.normalize('NFC').toLowerCase()

/** Names and addresses of members; null where several members have the same. */
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
  // A full name takes precedence over a first name; an address belongs to one member.
  for (const [first, id] of firsts) if (!names.has(first)) names.set(first, id)
  for (const { id, email } of members) names.set(fold(email), id)
  return names
}

/**
 * The members that a text mentions, each spelling once. The longest matching name counts. A name that several members
 * have mentions none of them. A first name suffices when only one member has it.
 */
export function mentionsIn(body: string, members: readonly Nameable[]): Mention[] {
  if (!body.includes('@')) return []
  const names = namesOf(members)
  const text = mentionableText(body)
  const found = new Map<string, string>()
  // A decomposed letter has at most three characters.
  const maxLength = Math.min(MAX_CHARACTERS, 3 * Math.max(0, ...[...names.keys()].map((name) => name.length)))
  let signs = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (++signs > MAX_SIGNS) break
    if (at > 0 && WORD.test(text.charAt(at - 1))) continue
    const following = text.slice(at + 1, at + 1 + maxLength)
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

/** Where a name may end: after each word of the line, longest first. */
function endsOf(text: string): number[] {
  const [line = ''] = text.split('\n', 1)
  const ends: number[] = []
  for (let end = line.length; end > 0; end--)
    if (!(ENDS.test(line.charAt(end - 1)) && ENDS.test(line.charAt(end)))) ends.push(end)
  return ends
}

/** The parts of a comment that can mention a member: text, but no code, links or URLs. Pure. */

/** Types of nodes that cannot mention a member. */
const SILENT: ReadonlySet<string> = new Set([
  'code',
  'inlineCode',
  'link',
  'linkReference',
  'image',
  'imageReference',
  'definition',
  'html',
])

/** A comment without any of these characters is plain text. */
const MARKUP = /[`~[<]|^(?: {4}| {0,3}\t)/m
const ADDRESS = /https?:\/\/\S+/giu
type Node = {
  readonly type: string
  readonly position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } }
  readonly children?: readonly Node[]
}

/** The comment with the other parts replaced by spaces, so that positions stay the same. */
function mentionableText(body: string): string {
  const silent = MARKUP.test(body) && !isCostlyMarkdown(body) ? silentPartsOf(fromMarkdown(body)) : []
  let text = ''
  let at = 0
  for (const [start, end] of silent) {
    text += body.slice(at, start) + ' '.repeat(end - start)
    at = end
  }
  return (text + body.slice(at)).replace(ADDRESS, (address) => ' '.repeat(address.length))
}

/** Start and end, in the order of the text, without overlaps. */
function silentPartsOf(node: Node): [number, number][] {
  if (!SILENT.has(node.type)) return (node.children ?? []).flatMap(silentPartsOf)
  const [start, end] = [node.position?.start.offset, node.position?.end.offset]
  return start === undefined || end === undefined ? [] : [[start, end]]
}
