import type { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import type { OperationInput } from '../../platform/context/operations.ts'
import { plain } from './question.ts'
import type { AnswerSource } from './ask.api.ts'

/** Writes a figure with its source: `42 [1]`. */
export type Cite = (figure: string) => string

const MAX_ROWS = 50

/** The facts of one answer: reads them as the caller, and keeps what they come from. */
export class Facts {
  readonly sources: AnswerSource[] = []
  /** Refusals of the reads so far: sentences. */
  readonly refused = new Set<string>()
  readonly #app: App
  readonly #actor: OrgActor
  readonly #signal: AbortSignal

  constructor(app: App, actor: OrgActor, signal: AbortSignal) {
    this.#app = app
    this.#actor = actor
    this.#signal = signal
  }

  get now(): Date {
    return this.#app.clock.now()
  }

  /**
   * Reads one operation of the API with the permissions of the caller.
   * @returns null when the caller may not read it, or there is no such thing
   * @throws AppError for other refusals, and when the client is gone
   */
  async read<T>(operation: string, schema: z.ZodType<T>, input: OperationInput): Promise<T | null> {
    this.#signal.throwIfAborted()
    try {
      return schema.parse(await this.#app.operations.call(this.#actor, operation, input))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'forbidden') this.refused.add(error.message)
      else if (error.code !== 'not_found') throw error
      return null
    }
  }

  /**
   * Adds a source; the first row is its heads.
   * @param link path of the dashboard that shows it
   */
  source(title: string, operation: string, link: string | null, rows: readonly (readonly (string | null)[])[]): Cite {
    const n = this.sources.length + 1
    this.sources.push({
      n,
      title,
      operation,
      link,
      rows: rows.slice(0, MAX_ROWS).map((row) => row.map((cell) => plain(cell ?? ''))),
      as_of: this.now.toISOString(),
    })
    return (figure) => `${figure} [${n}]`
  }
}

/** A path of the dashboard with the search parameters that have a value. */
export function pathTo(path: string, search: Readonly<Record<string, string | null | undefined>> = {}): string {
  const given = Object.entries(search).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value]],
  )
  const query = new URLSearchParams(given).toString()
  return query === '' ? path : `${path}?${query}`
}
