import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { ChartHint } from './view-rows.ts'

/** A question as a statement, not checked yet. */
export type Translation = {
  readonly sql: string
  /** The question as it was understood. */
  readonly explanation: string
  /** Null: the result decides. */
  readonly chartHint: ChartHint | null
  readonly source: 'built_in' | 'model'
}

export type AskedQuestion = { readonly projectId: string; readonly question: string; readonly now: Date }

/**
 * Turns a question into a statement; null leaves it to the next translator.
 * @throws AppError invalid, which says what was not understood
 */
export type Translator = (app: App, actor: OrgActor, asked: AskedQuestion) => Promise<Translation | null>
