import type { Asked } from './asked.ts'
import { suggestQuestions } from './suggest-questions.ts'
import type { Understood } from './understand.ts'

/**
 * Answers a question from facts, without a model: the built-in analyst.
 * @returns whether the question was understood
 */
export async function answerByRules({ intent }: Understood, asked: Asked): Promise<boolean> {
  await intent?.answer(asked)
  const { period, against } = asked.question
  if (period !== null && against !== null && intent !== null && intent.fixedTime === undefined)
    await intent.answer({ ...asked, question: { ...asked.question, period: against } })
  if (period !== null && intent?.fixedTime !== undefined && asked.facts.sources.length > 0)
    asked.say(`These figures are not kept for the time that was asked for: they are those ${intent.fixedTime}.`)
  const { refused } = asked.facts
  for (const sentence of refused) asked.say(`I may not read all that this needs. ${sentence}`)
  if (intent !== null) return true
  asked.say('I answer from the data by rules, and I did not understand this question. I can answer, for example:')
  for (const question of await suggestQuestions(asked)) asked.say(`- ${question}`)
  return false
}
