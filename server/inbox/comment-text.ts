import { isCostlyMarkdown } from '#shared/comment-cost.ts'
import { fromMarkdown } from 'mdast-util-from-markdown'

/** What of a comment is text and can call somebody: not code, not links, not addresses. Pure. */

/** Drawn as they are, or leading elsewhere. */
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

/** Without one of these a comment is all text. */
const MARKUP = /[`~[<]|^(?: {4}| {0,3}\t)/m
const ADDRESS = /https?:\/\/\S+/giu
type Node = {
  readonly type: string
  readonly position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } }
  readonly children?: readonly Node[]
}

/** The comment with everything else blank; what is left stands where it stood. */
export function callingText(body: string): string {
  const silent = MARKUP.test(body) && !isCostlyMarkdown(body) ? silentPartsOf(fromMarkdown(body)) : []
  let text = ''
  let at = 0
  for (const [start, end] of silent) {
    text += body.slice(at, start) + ' '.repeat(end - start)
    at = end
  }
  return (text + body.slice(at)).replace(ADDRESS, (address) => ' '.repeat(address.length))
}

/** From, to; in the order of the text, none within another. */
function silentPartsOf(node: Node): [number, number][] {
  if (!SILENT.has(node.type)) return (node.children ?? []).flatMap(silentPartsOf)
  const [start, end] = [node.position?.start.offset, node.position?.end.offset]
  return start === undefined || end === undefined ? [] : [[start, end]]
}
