import type { AnswerSource } from './ask.api.ts'

/** Behind a figure that no source holds. */
const UNKNOWN = '[?]'

/** A word with what stands before and behind it: `(42%).` */
const WORD = /^([("'*_[\]`]*)(.*?)([)"'*_.,;:!?\]`]*)$/s
const CITED = /^(.*?)\[(\d{1,3})\]([).,;:!?*_]*)$/s
const UNIT = /^(?:%|percent|ms|s|sec|seconds?)[.,;:!?)]*$/

/**
 * Checks the figures of an answer against its sources while it is written: a number behind which its source does not stand
 * gets the `[n]` of a source that holds it, else `[?]`. Names, versions and times count as held where a source has them as
 * text. Spans and days that the title of a source names need no mark. Fences lose their language, so that nothing in
 * the words of a model is offered as a statement, and images and links to other sites are broken.
 */
export class FigureCheck {
  readonly #sources: readonly AnswerSource[]
  readonly #numbers: ReadonlyMap<string, readonly number[]>
  readonly #text: string
  readonly #titles: string
  readonly #write: (text: string) => void
  #rest = ''
  /** A number whose mark may follow, with its unit and the word before it. */
  #waiting: { written: string; behind: string; figure: string; bare: string; before: string; hasUnit: boolean } | null =
    null
  #before = ''

  /** @param write takes checked text */
  constructor(sources: readonly AnswerSource[], write: (text: string) => void) {
    this.#sources = sources
    this.#write = write
    const numbers = new Map<string, number[]>()
    for (const { n, rows } of sources)
      for (const found of figuresOf(rows)) numbers.set(found, [...(numbers.get(found) ?? []), n])
    this.#numbers = numbers
    this.#titles = sources.map(({ title }) => ` ${wordsOf(title)} `).join('')
    this.#text = sources
      .flatMap(({ title, rows }) => [title, ...rows.flat()])
      .join('\n')
      .toLowerCase()
  }

  /** Takes a fragment; a word is checked when it is whole. */
  take(fragment: string): void {
    this.#rest += fragment
    for (;;) {
      // The end of a quotation may still come.
      if (
        /^\s*`[^`]*(?:`\S*)?$/.test(this.#rest) &&
        this.#rest.length < 240 &&
        !this.#rest.trimStart().startsWith('``')
      )
        return
      const found = /^(\s*)(`[^`\n]{1,200}`(?=[^`])\S*|[^\s]+)(?=\s)/.exec(this.#rest)
      if (found === null) return
      this.#rest = this.#rest.slice(found[0].length)
      this.#word(found[1] ?? '', found[2] ?? '')
    }
  }

  /** Writes what is left. */
  end(): void {
    const found = /^(\s*)(.*?)(\s*)$/s.exec(this.#rest)
    this.#rest = ''
    if (found !== null && found[2] !== undefined && found[2] !== '') this.#word(found[1] ?? '', found[2])
    this.#settle(null)
    if (found?.[3] !== undefined && found[3] !== '') this.#write(found[3])
  }

  #word(space: string, given: string): void {
    const before = this.#before
    this.#before = given
    if (/^`.*\s/s.test(given) && !this.#isQuotation(given)) return this.#words(space, given)
    const word = given
      .replaceAll(/(?:`{3,}|~{3,})[\w-]*/g, '```')
      .replaceAll('![', '[')
      .replaceAll(/\]\((?!\/)/g, '] (')
    if (this.#isQuotation(word)) {
      this.#settle(null, ' ', word)
      return this.#write(space + word)
    }
    const cited = CITED.exec(word)
    const mark = cited?.[1] === '' ? Number(cited[2]) : null
    if (this.#waiting !== null && mark !== null) {
      this.#settle(mark, space)
      return this.#write(cited?.[3] ?? '')
    }
    if (this.#waiting !== null && !this.#waiting.hasUnit && this.#waiting.behind === '' && UNIT.test(word)) {
      const [, , unit = '', behind = ''] = WORD.exec(word) ?? []
      this.#waiting = { ...this.#waiting, written: `${this.#waiting.written}${space}${unit}`, behind, hasUnit: true }
      return
    }
    this.#settle(null, ' ', word)
    // A mark behind no figure: kept when there is such a source.
    if (mark !== null) return this.#write(this.#has(mark) ? space + word : (cited?.[3] ?? ''))
    const core = cited === null ? word : (cited[1] ?? '')
    if (!/\d/.test(core) || (/^\d{1,2}[.)]$/.test(core) && /\n|^$/.test(space))) return this.#write(space + word)
    const [, opening = '', inner = '', behind = ''] = WORD.exec(core) ?? []
    const figure = numberOf(inner)
    if (figure === null) {
      this.#write(space + word)
      if (!this.#isHeld(inner)) this.#write(` ${UNKNOWN}`)
      return
    }
    this.#waiting = {
      written: `${space}${opening}${inner}`,
      behind,
      figure,
      bare: inner,
      before,
      hasUnit: /\D$/.test(inner),
    }
    if (cited !== null) {
      this.#settle(Number(cited[2]), ' ')
      this.#write(cited[3] ?? '')
    }
  }

  /** A quotation that no source holds is words like others. */
  #words(space: string, given: string): void {
    for (const [, before = '', one = ''] of (space + given).matchAll(/(\s*)(\S+)/g)) this.#word(before, one)
  }

  /** A text of a source in backticks. */
  #isQuotation(word: string): boolean {
    return /^`[^`]+`[^`\s]*$/.test(word) && this.#isHeld(word.slice(1, word.lastIndexOf('`')))
  }

  /** Writes the waiting number with its mark. */
  #settle(mark: number | null, space = ' ', next = ''): void {
    const waiting = this.#waiting
    if (waiting === null) return
    this.#waiting = null
    const held = this.#numbers.get(waiting.figure) ?? []
    const right = mark !== null && held.includes(mark) ? mark : held[0]
    // A span or a day of a title: "7 days", "17 November", "November 2026".
    const { before, bare } = waiting
    const isAsked = mark === null && (this.#isOfTitle(bare, next) || this.#isOfTitle(before, bare))
    const shown = isAsked ? '' : right === undefined ? UNKNOWN : `[${right}]`
    this.#write(`${waiting.written}${shown === '' ? '' : `${space}${shown}`}${waiting.behind}`)
  }

  #isOfTitle(first: string, second: string): boolean {
    const words = [wordsOf(first), wordsOf(second)]
    return !words.includes('') && this.#titles.includes(` ${words.join(' ')} `)
  }

  #has(n: number): boolean {
    return this.#sources.some((source) => source.n === n)
  }

  #isHeld(text: string): boolean {
    const wanted = text.toLowerCase().replaceAll(/\s+/g, ' ').trim().replace(/…$/, '')
    return wanted !== '' && this.#text.includes(wanted)
  }
}

/** Heads of columns with names and texts, which apps and their users choose: a number in them is no figure. */
const TEXTS = new Set(['Title', 'Text', 'Rule', 'Project', 'Name', 'Issue', 'Last release'])

/** The figures of a table in one form: `1,204` and `1204.0` are equal. The first column has names. */
function figuresOf([heads = [], ...rows]: AnswerSource['rows']): string[] {
  return rows.flatMap((row) =>
    row.flatMap((cell, column) => {
      if (column === 0 || TEXTS.has(heads[column] ?? '')) return []
      const found = /^(\d[\d,]*(?:\.\d+)?)(?: (?:%|ms|s))?$/.exec(cell)
      return found === null ? [] : [String(Number((found[1] ?? '').replaceAll(',', '')))]
    }),
  )
}

const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** A plain number with or without a unit; null for a name, a version or a time. */
function numberOf(text: string): string | null {
  const found = /^[-+~≈<>≤≥±]?[$€]?(\d[\d,]*(?:\.\d+)?)(?:%|ms|s|x)?$/.exec(text)
  return found === null ? null : String(Number((found[1] ?? '').replaceAll(',', '')))
}
