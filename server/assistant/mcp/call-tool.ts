import { z } from 'zod'
import { actorForLog, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { OperationInput } from '../../platform/context/operations.ts'
import type { RouteSpec } from '../../platform/kernel/contract.ts'
import { AppError, invalid, unavailable } from '../../platform/kernel/errors.ts'
import type { OfferedTool, Place } from './offer-tools.ts'
import { NARROWING } from './tools.ts'

/** Calls an operation of the API for an actor; ends the wait for one that takes too long. A stream becomes the list of its events. */
export type CallOperation = (actor: OrgActor, name: string, input: OperationInput, spec: RouteSpec) => Promise<unknown>

/** The result of `tools/call`. */
type ToolResult = {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
}

/**
 * Calls the operation of a tool. What the API refuses is a result with `isError` and the sentence of the API, so that
 * the model can correct itself.
 * @param given the arguments as the client sent them
 */
export async function callTool(
  app: App,
  call: CallOperation,
  actor: OrgActor,
  offered: OfferedTool,
  given: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const { tool, spec } = offered
  try {
    const answer = await call(actor, tool.operation, inputOf(offered, given), spec)
    return resultOf(offered, spec.stream === undefined ? answer : joinEvents(answer))
  } catch (error) {
    if (error instanceof AppError) return refusal(error.message)
    app.log.error({ ...actorForLog(actor), tool: offered.name, err: error }, 'a tool failed')
    const id = actor.origin.kind === 'request' ? ` Quote the request id ${actor.requestId} when you report it.` : ''
    return refusal(`An internal error occurred and was logged.${id}`)
  }
}

const Events = z.array(
  z.object({ delta: z.string().optional(), source: z.unknown().optional(), error: z.string().optional() }),
)

/**
 * The events of an answer as one value.
 * @throws AppError unavailable with the error of a stream that broke off before it said anything
 */
function joinEvents(given: unknown): { answer: string; sources: unknown[]; error?: string } {
  const events = Events.parse(given)
  const answer = events.map(({ delta = '' }) => delta).join('')
  const error = events.findLast((event) => event.error !== undefined)?.error
  if (error !== undefined && answer === '') throw unavailable(error)
  const sources = events.flatMap(({ source }) => (source === undefined ? [] : [source]))
  return { answer, sources, ...(error === undefined ? {} : { error }) }
}

const refusal = (sentence: string): ToolResult => ({ content: [{ type: 'text', text: sentence }], isError: true })

/** @throws AppError invalid (an argument that the tool does not have, or lacks) */
function inputOf({ name, tool, spec, places }: OfferedTool, given: Readonly<Record<string, unknown>>): OperationInput {
  const input: Record<Place, Record<string, unknown>> = { params: {}, query: {}, body: { ...tool.fixed } }
  for (const [argument, value] of Object.entries(given)) {
    const place = places.get(argument)
    if (place === undefined) throw invalid(`${name} has no argument ${argument.slice(0, 100)}. ${argumentsOf(places)}`)
    if (value === undefined) continue
    input[place][argument] = place === 'query' ? asQuery(value) : value
  }
  for (const argument of tool.demands ?? [])
    if (!Object.hasOwn(given, argument)) throw invalid(`${argument} is missing.`)
  for (const [argument, place] of places)
    if (place === 'params' && given[argument] === undefined) throw invalid(`${argument} is missing.`)
  return {
    params: input.params,
    query: input.query,
    ...(spec.body === undefined ? {} : { body: input.body }),
  }
}

const argumentsOf = (places: ReadonlyMap<string, Place>): string =>
  places.size === 0 ? 'It has none.' : `It has ${[...places.keys()].join(', ')}.`

/** Query strings hold text. */
const asQuery = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(asQuery)
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : value

function resultOf({ places }: OfferedTool, answer: unknown): ToolResult {
  if (answer === undefined) return { content: [{ type: 'text', text: 'Done.' }] }
  const { text, value, sentence } = shorten(answer)
  const narrowing = NARROWING.filter((argument) => places.has(argument))
  const howTo = narrowing.length === 0 ? '' : ` Narrow it with ${narrowing.join(' or ')}.`
  const structured = asObject(value)
  return {
    content: [
      { type: 'text', text },
      ...(sentence === null ? [] : [{ type: 'text' as const, text: `${sentence}${howTo}` }]),
    ],
    ...(structured === null ? {} : { structuredContent: structured }),
  }
}

const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null

/** The longest answer of a tool, as JSON: models read every byte. */
const MAX_ANSWER_BYTES = 100_000

/** How much of an answer is kept, in the order in which it is tried. */
const STEPS = [
  { entries: 50, characters: 2_000 },
  { entries: 20, characters: 1_000 },
  { entries: 10, characters: 500 },
  { entries: 6, characters: 200 },
  { entries: 3, characters: 100 },
] as const
type Step = (typeof STEPS)[number]

const MAX_DEPTH = 12

type Shortened = {
  readonly text: string
  /** The value of the text. */
  readonly value: unknown
  /** Says that something was left out; null when nothing was. */
  readonly sentence: string | null
}

/** An answer as JSON that fits `maxBytes`. Of long lists their ends stay, of long texts their beginnings. */
export function shorten(value: unknown, maxBytes = MAX_ANSWER_BYTES): Shortened {
  const whole = JSON.stringify(value) ?? 'null'
  const bytes = Buffer.byteLength(whole)
  if (bytes <= maxBytes) return { text: whole, value, sentence: null }
  const had = `The answer had ${Math.ceil(bytes / 1000).toLocaleString('en')} kB`
  for (const step of STEPS) {
    const short = shortenValue(value, step, 0)
    const text = JSON.stringify(short)
    if (Buffer.byteLength(text) <= maxBytes)
      return {
        text,
        value: short,
        sentence: `${had}: its lists were cut to ${step.entries} entries and its texts to ${step.characters} characters.`,
      }
  }
  return { text: 'null', value: null, sentence: `${had} and is left out.` }
}

function shortenValue(value: unknown, step: Step, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= step.characters ? value : `${value.slice(0, step.characters).toWellFormed()}…`
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '…'
  if (Array.isArray(value)) return ends(value, step.entries).map((entry) => shortenValue(entry, step, depth + 1))
  // Fields of the API's own shapes are fewer; an event may hold more.
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, Math.max(step.entries, 40))
      .map(([key, field]) => [key, shortenValue(field, step, depth + 1)]),
  )
}

/** The newest breadcrumb and the frame that failed are at an end of their list. */
function ends(list: readonly unknown[], entries: number): readonly unknown[] {
  if (list.length <= entries) return list
  const head = Math.ceil(entries / 2)
  return [
    ...list.slice(0, head),
    `… ${list.length - entries} of ${list.length} left out`,
    ...list.slice(head - entries),
  ]
}
