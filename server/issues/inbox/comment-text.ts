import { isCostlyMarkdown } from '#shared/comment-cost.ts'
import { fromMarkdown } from 'mdast-util-from-markdown'

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
export function mentionableText(body: string): string {
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
