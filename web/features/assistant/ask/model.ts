/** The parts of an answer. Pure. */

export type Message = { role: 'user' | 'assistant'; content: string }

/** The bounds of the API, with some room. */
const MAX_MESSAGES = 49
const MAX_BYTES = 30_000
const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength

/** The newest messages that the API takes; the first is a question. */
export function fitting(messages: readonly Message[]): Message[] {
  let from = messages.length - 1
  let bytes = bytesOf(messages[from]?.content ?? '')
  while (from >= 2 && messages.length - from < MAX_MESSAGES - 1) {
    bytes += bytesOf(messages[from - 1]?.content ?? '') + bytesOf(messages[from - 2]?.content ?? '')
    if (bytes > MAX_BYTES) break
    from -= 2
  }
  return messages.slice(from)
}

/** `42 events [1]` → `42 events`: the numbers of sources mean nothing outside their answer. */
export const withoutMarks = (text: string): string => text.replaceAll(/[ \u00a0\u202f]?\[(?:\d{1,3}|\?)\]/gu, '')

/** A figure with its unit, and the mark behind it. */
const MARK =
  /((?:[×+\-\u2212<]?\d[\d.,:]*(?:[ \u00a0\u202f]?(?:%|pt|ms|s|min|h|d|k|M|G|B|kB|MB|GB)(?![\p{L}\d]))?)?)[ \u00a0\u202f]?\[(\d{1,3}|\?)\]/gu

/** `figure` may be empty: the mark then follows other markup. `source` is null where no source holds the figure. */
export type LinePart = string | { readonly figure: string; readonly source: number | null }

export function splitLine(line: string): LinePart[] {
  const parts: LinePart[] = []
  let from = 0
  for (const match of line.matchAll(MARK)) {
    const [all, figure = '', source] = match
    if (match.index > from) parts.push(line.slice(from, match.index))
    parts.push({ figure, source: source === '?' ? null : Number(source) })
    from = match.index + all.length
  }
  if (from < line.length) parts.push(line.slice(from))
  return parts
}

/** A block is Markdown of its own, so that a growing answer only reads its last one again. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  /** `isOpen`: its fence is not closed yet. */
  | { readonly kind: 'code'; readonly language: string; readonly text: string; readonly isOpen: boolean }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w-]*)/
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/

export function splitBlocks(answer: string): Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  let fence: { mark: string; language: string } | null = null
  let gap = false
  const end = () => {
    if (lines.length > 0) blocks.push(blockOf(lines))
    lines = []
  }
  for (const line of answer.split('\n')) {
    const [, mark = '', language = ''] = FENCE.exec(line) ?? []
    if (fence !== null) {
      if (mark.startsWith(fence.mark) && line.trim() === mark) {
        blocks.push({ kind: 'code', language: fence.language, text: lines.join('\n'), isOpen: false })
        lines = []
        fence = null
      } else lines.push(line)
    } else if (mark !== '') {
      end()
      fence = { mark, language: language.toLowerCase() }
    } else if (line.trim() === '') gap = true
    else {
      // Items of a list may stand apart.
      const isItem = gap && ITEM.test(lines[0] ?? '') && (ITEM.test(line) || /^\s{2}/.test(line))
      if (isItem) lines.push('')
      else if (gap) end()
      gap = false
      lines.push(line)
    }
  }
  if (fence === null) end()
  else blocks.push({ kind: 'code', language: fence.language, text: lines.join('\n'), isOpen: true })
  return blocks
}

const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/

function blockOf(lines: readonly string[]): Block {
  const [head = '', rule = '', ...rest] = lines
  if (head.includes('|') && rule.includes('-') && RULE.test(rule))
    return { kind: 'table', rows: [head, ...rest].map(cellsOf) }
  return { kind: 'text', text: lines.join('\n') }
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

/** Whether a cell is a figure, and stands at the end of its column. */
export const isFigure = (cell: string): boolean =>
  /^[×+\-\u2212<]?\d[\d.,:\s\u202f]*[\p{L}%]{0,3}(?:\s?\[.{1,3}\])?$/u.test(cell)

type Present = {
  readonly regressed: number
  /** Short ids, the most users first. */
  readonly issues: readonly string[]
  /** Short versions, the newest first. */
  readonly releases: readonly string[]
}

/** Four questions that the present state suggests. */
export function exampleQuestions({ regressed, issues, releases }: Present, texts: ExampleTexts): string[] {
  const [issue] = issues
  const [newest, before] = releases
  return [
    regressed > 0 ? texts.regressed : texts.fresh,
    newest === undefined
      ? texts.crashFree
      : before === undefined
        ? texts.release(newest)
        : texts.compare(newest, before),
    issue === undefined ? texts.worst : texts.affected(issue),
    texts.slow,
  ]
}

type ExampleTexts = {
  readonly regressed: string
  readonly fresh: string
  readonly crashFree: string
  readonly worst: string
  readonly slow: string
  readonly release: (newest: string) => string
  readonly compare: (newest: string, before: string) => string
  readonly affected: (issue: string) => string
}
