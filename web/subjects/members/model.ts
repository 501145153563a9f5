import type { Named } from './names.ts'

const fold = (text: string): string => text.normalize('NFC').toLowerCase()

/** Whether the typed text is the beginning of a word of the member's name, or of the e-mail address. */
export function matchesMember({ name, email }: Named, typed: string): boolean {
  const text = fold(typed)
  const folded = fold(name)
  return folded.startsWith(text) || fold(email).startsWith(text) || folded.includes(` ${text}`)
}

/** A mention that is being typed: the index of its `@`, and the text from there to the caret. */
export type TypedMention = { readonly at: number; readonly text: string }

const MAX_TYPED = 60
const WORD = /[\p{L}\p{N}_.+-]/u

export function typedMention(value: string, caret: number): TypedMention | null {
  const from = Math.max(0, caret - MAX_TYPED)
  const before = value.slice(from, caret)
  const sign = before.lastIndexOf('@')
  if (sign < 0 || before.indexOf('\n', sign) >= 0) return null
  const at = from + sign
  if (at > 0 && WORD.test(value.charAt(at - 1))) return null
  return { at, text: value.slice(at + 1, caret) }
}

/** The mention of a member: by name if it is unique, else by e-mail address. */
export function writtenAs(member: Named, all: readonly Named[]): string {
  const name = member.name.trim()
  const isOnly = name !== '' && all.every((one) => one.id === member.id || fold(one.name.trim()) !== fold(name))
  return `@${isOnly ? name : member.email}`
}

/** Replaces the typed text with the mention; returns the text and the new position of the caret. */
export function withMention(value: string, caret: number, typed: TypedMention, written: string) {
  const after = value.slice(caret)
  const gap = after.startsWith(' ') ? '' : ' '
  return { value: value.slice(0, typed.at) + written + gap + after, caret: typed.at + written.length + 1 }
}

/** Splits a line at its mentions. */
export function mentionParts(
  line: string,
  mentions: readonly { readonly text: string; readonly user: { readonly id: string; readonly name: string } }[],
): (string | { readonly text: string; readonly id: string; readonly name: string })[] {
  if (mentions.length === 0 || !line.includes('@')) return [line]
  const known = new Map(mentions.map(({ text, user }) => [text, user]))
  // The longest first: `@Ada Lovelace` begins with `@Ada`.
  const names = [...known.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const parts: ReturnType<typeof mentionParts> = []
  let from = 0
  for (const match of line.matchAll(
    new RegExp(`(?<![\\p{L}\\p{N}_.+\\-])(?:${names.join('|')})(?![\\p{L}\\p{N}_])`, 'gu'),
  )) {
    const user = known.get(match[0])
    if (user === undefined) continue
    if (match.index > from) parts.push(line.slice(from, match.index))
    parts.push({ text: match[0], id: user.id, name: user.name })
    from = match.index + match[0].length
  }
  if (from < line.length) parts.push(line.slice(from))
  return parts
}
