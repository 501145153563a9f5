import { z } from 'zod'
import { actorForLog, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { OperationInput } from '../../platform/context/operations.ts'
import type { RouteSpec } from '../../platform/kernel/contract.ts'
import { AppError, invalid, unavailable } from '../../platform/kernel/errors.ts'
import type { OfferedTool, Place } from './offer-tools.ts'
import { shorten } from './shorten.ts'
import { NARROWING } from './tools.ts'

/** Calls an operation of the API for an actor; ends the wait for one that takes too long. A stream becomes the list of its events. */
export type CallOperation = (actor: OrgActor, name: string, input: OperationInput, spec: RouteSpec) => Promise<unknown>

/** The result of `tools/call`. */
export type ToolResult = {
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
