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
const FENCED = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm
const SIGNS = /[*_[\]!<&`]/g
/** Lists and quotes in each other. */
const NESTED = /^[ \t]*(?:>[ \t]*|(?:[-+*]|\d{1,9}[.)])[ \t]+){20}/m
const MOST_SIGNS = 400
/** What stands before the text of a line: marks of lists and quotes. */
const PREFIX = /^[ \t]*(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*)+/gm
const MOST_PREFIXED = 3_000
const MOST_LINES = 1_500

/**
 * Whether reading it as Markdown would take seconds: emphasis and brackets cost the square of their number, lists in
 * lists their depth, and so do thousands of lines, or of marks before them. The dashboard draws such a comment as it was
 * typed (web/features/issue/comments/markdown.tsx).
 */
function isCostly(body: string): boolean {
  if (NESTED.test(body)) return true
  const drawn = body.replace(FENCED, '')
  const prefixed = (drawn.match(PREFIX) ?? []).reduce((sum, { length }) => sum + length, 0)
  return (
    (drawn.match(SIGNS)?.length ?? 0) > MOST_SIGNS || prefixed > MOST_PREFIXED || drawn.split('\n').length > MOST_LINES
  )
}

type Node = {
  readonly type: string
  readonly position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } }
  readonly children?: readonly Node[]
}

/** The comment with everything else blank; what is left stands where it stood. */
export function callingText(body: string): string {
  const silent = MARKUP.test(body) && !isCostly(body) ? silentPartsOf(fromMarkdown(body)) : []
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
