import { AppError } from '../../../platform/kernel/errors.ts'
import { hashUser } from '../../../events/protocol/user.ts'
import type { Translator } from '../translation.ts'
import { type KnownValues, KnownIndex } from './known-values.ts'
import { readKnownValues } from './known-values.queries.ts'
import { type Item, readQuestion } from './read-question.ts'
import { stemWord } from './words.ts'
import { type Statement, writeSelect } from './write-select.queries.ts'
import { type Misunderstood, understandQuestion } from './understand-question.ts'

/** Translates a question about a project into one statement over the views, by rules alone. */
export const translateByRules: Translator = async (app, _, { projectId, question, now }) => {
  const written = translateQuestion(question, await readKnownValues(app.db, projectId), projectId, now)
  if ('refusal' in written) throw written.refusal
  return { ...written, source: 'built_in' }
}

/** The same for given values: a statement, or the error that says which words were not understood. Pure. */
export function translateQuestion(
  question: string,
  values: KnownValues,
  projectId: string,
  now: Date,
): Statement | { readonly refusal: AppError } {
  const items = readQuestion(question, new KnownIndex(values), now)
  const unitBehind = ({ end }: Item): string => stemWord(/^\s*(\p{L}+|%)/u.exec(question.slice(end))?.[1] ?? '')
  const intent = understandQuestion(items, unitBehind, now)
  if ('problem' in intent) return { refusal: refuse(question, intent, items) }
  const statement = writeSelect(intent, now, (userId) => viewUserKey(projectId, userId))
  return 'problem' in statement
    ? { refusal: refuse(question, { problem: statement.problem, places: [] }, items) }
    : statement
}

/** The `user_key` of the views: the low 40 bits of the hash, which sketches of users keep. */
export const viewUserKey = (projectId: string, userId: string): string =>
  (hashUser(projectId, userId) % 2 ** 40).toString(16).padStart(10, '0')

const EXAMPLES = {
  events: [
    'How many crashes were there in the last 24 hours?',
    'Top 10 issues by users since Tuesday',
    'Events by release in the last 7 days',
  ],
  sessions: [
    'What is the crash-free rate by release in the last 7 days?',
    'How many sessions were there yesterday?',
    'Crash-free users this week compared with last week',
  ],
  performance: [
    'Slowest screens in the last 7 days',
    'p95 of cold starts by release',
    'Failure rate of transactions per day in the last 14 days',
  ],
} as const

/** Three questions that work, near to the question as far as it was understood. */
function examplesFor(items: readonly Item[]): readonly string[] {
  const words = items.map((item) =>
    item.is === 'measure' ? item.measure : item.is === 'dimension' ? item.dimension : item.is === 'slow' ? 'slow' : '',
  )
  if (words.some((word) => /start|screen|transaction|slow|lcp|fcp|ttfb|inp|cls|frame|failure|battery/.test(word)))
    return EXAMPLES.performance
  return words.some((word) => /session|crash_|active|adoption|anr/.test(word)) ? EXAMPLES.sessions : EXAMPLES.events
}

const MAX_PLACES = 20

function refuse(question: string, { problem, places }: Misunderstood, items: readonly Item[]): AppError {
  const some = places.slice(0, MAX_PLACES).map(({ start, end }) => ({ start, end }))
  const words = some.map(({ start, end }) => `"${question.slice(start, end).slice(0, 50)}" (character ${start + 1})`)
  const what =
    problem !== 'unknown'
      ? `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
      : `I do not understand ${words.join(', ')}.`
  const examples = examplesFor(items)
    .map((example) => `"${example}"`)
    .join(', ')
  const [position] = some
  return new AppError('invalid', `query: ${what} Questions that work: ${examples}.`, {
    headers: position === undefined ? {} : { 'x-query-mistake': JSON.stringify({ position, positions: some }) },
  })
}
