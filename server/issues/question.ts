import { invalid } from '../kernel/errors.ts'
import { EVENT_LEVELS } from '../protocol/event.api.ts'
import { SEVERITIES, STATUSES, type IssueStatus, type Severity } from './issues.api.ts'
import { questionWords } from './search-text.ts'

/** A search question, taken apart. */
export type Question = {
  readonly words: readonly string[]
  readonly withoutWords: readonly string[]
  readonly statuses?: readonly IssueStatus[]
  readonly severities?: readonly Severity[]
  readonly levels?: readonly string[]
  /** `me`, `none` or user ids. */
  readonly assignees?: readonly string[]
}

/** A quoted text, or everything up to the next space; a leading `-` negates. */
const TERM = /(-?)(?:([a-z_.]+):)?(?:"([^"]*)"|(\S+))/giy

const MOST_WORDS = 30

/**
 * Words, `"quoted words"`, `is:<status>`, `level:`, `severity:`, `assigned:me|none`; `-` before a term negates it.
 * Terms of one key add up, different keys narrow.
 * @throws AppError invalid, naming the place
 */
export function parseQuestion(text: string): Question {
  const words: string[] = []
  const withoutWords: string[] = []
  const lists = {
    is: new Filter('is', STATUSES),
    level: new Filter('level', EVENT_LEVELS),
    severity: new Filter('severity', SEVERITIES),
    assigned: new Filter('assigned', ['me', 'none']),
  }
  TERM.lastIndex = 0
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at] ?? '')) {
      at++
      continue
    }
    TERM.lastIndex = at
    const match = TERM.exec(text)
    if (match === null) throw invalid(`q: cannot read the term at character ${at + 1}.`)
    const [whole, minus, key, quoted, plain] = match
    const value = quoted ?? plain ?? ''
    if (plain?.includes('"') === true)
      throw invalid(`q: the quote at character ${at + 1 + whole.indexOf('"')} is not closed.`)
    const filter = key === undefined ? undefined : lists[key.toLowerCase() as keyof typeof lists]
    if (filter === undefined)
      (minus === '-' ? withoutWords : words).push(...questionWords(key === undefined ? value : `${key} ${value}`))
    else filter.add(value.toLowerCase(), minus === '-', at + 1)
    at += whole.length
  }
  if (words.length + withoutWords.length > MOST_WORDS) throw invalid(`q: at most ${MOST_WORDS} words.`)
  const statuses = lists.is.result()
  const levels = lists.level.result()
  const severities = lists.severity.result()
  const assignees = lists.assigned.result()
  return {
    words,
    withoutWords,
    ...(statuses === undefined ? {} : { statuses }),
    ...(levels === undefined ? {} : { levels }),
    ...(severities === undefined ? {} : { severities }),
    ...(assignees === undefined ? {} : { assignees }),
  }
}

/** Values of one key, wanted or not. */
class Filter<T extends string> {
  readonly #key: string
  readonly #values: readonly T[]
  readonly #wanted = new Set<T>()
  readonly #unwanted = new Set<T>()

  constructor(key: string, values: readonly T[]) {
    this.#key = key
    this.#values = values
  }

  add(value: string, negated: boolean, place: number): void {
    const known = this.#values.find((one) => one === value)
    if (known === undefined) throw invalid(`q: ${this.#key}: at character ${place} takes ${this.#values.join(', ')}.`)
    ;(negated ? this.#unwanted : this.#wanted).add(known)
  }

  result(): readonly T[] | undefined {
    if (this.#wanted.size === 0 && this.#unwanted.size === 0) return undefined
    return this.#values.filter(
      (value) => (this.#wanted.size === 0 || this.#wanted.has(value)) && !this.#unwanted.has(value),
    )
  }
}
