import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { translateByModel } from './translate-by-model.ts'
import type { AskedQuestion, Translation, Translator } from './translation.ts'
import { translateByRules } from './translator/translate-question.ts'

/** The first that has a statement is taken: the model, where one is configured and answers. */
const TRANSLATORS: readonly Translator[] = [translateByModel, translateByRules]

/**
 * Writes a question as a statement, which the guard has not checked yet.
 * @throws AppError invalid, with what was not understood and three questions that are
 */
export async function writeStatement(app: App, actor: OrgActor, asked: AskedQuestion): Promise<Translation> {
  for (const translate of TRANSLATORS) {
    const translation = await translate(app, actor, asked)
    if (translation !== null) return translation
  }
  throw invalid('query: The question is not understood. Write it in other words, or send a SELECT as sql.')
}
