import { rateLimited } from '../../platform/kernel/errors.ts'
import { MINUTE_MS, utcDay } from '../../platform/kernel/day.ts'
import type { AiSettings } from '../../config/models.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { addRequest, addUsed, lockDay, selectUsed } from './usage.queries.ts'

export type Tokens = { readonly inputTokens: number; readonly outputTokens: number }

/** Tokens that a call can use, counted as used until it is settled. */
export type Reservation = Tokens & { readonly day: string }

/** By the prices of the operator, in millionths of a USD: a price per million tokens is that per token. */
export const costMicros = ({ price }: AiSettings, { inputTokens, outputTokens }: Tokens): number =>
  Math.ceil(inputTokens * price.input + outputTokens * price.output)

/** The first day of the month of a day. */
export const monthStart = (day: string): string => `${day.slice(0, 8)}01`

/**
 * Counts a call of an organisation with the most it can use. The bounds hold for calls of all processes together: each waits
 * for the one before to be counted.
 * @throws AppError rate_limited when a bound is reached, with the time until it is not
 */
export async function reserveCall(
  tx: Tx,
  settings: AiSettings,
  orgId: string,
  tokens: Tokens,
  now: Date,
): Promise<Reservation> {
  const day = utcDay(now)
  const minute = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS)
  const row = await lockDay(tx, orgId, day, minute)
  const used = row.minute.getTime() === minute.getTime() ? row.minute_requests : 0
  if (used >= settings.requestsPerMinute)
    throw rateLimited(
      `The organisation has asked the model ${settings.requestsPerMinute} times in this minute, which is the limit.`,
      (minute.getTime() + MINUTE_MS - now.getTime()) / 1000,
    )
  const wanted = tokens.inputTokens + tokens.outputTokens
  const today = Number(row.input_tokens) + Number(row.output_tokens)
  if (settings.tokensPerDay !== null && today + wanted > settings.tokensPerDay)
    throw rateLimited(
      `The organisation's limit of ${settings.tokensPerDay.toLocaleString('en')} tokens of the model a day is reached.`,
      (Date.parse(`${day}T24:00:00Z`) - now.getTime()) / 1000,
    )
  const cost = costMicros(settings, tokens)
  if (settings.usdPerMonth !== null) {
    const month = await selectUsed(tx, orgId, monthStart(day), day)
    if (month.costMicros + cost > settings.usdPerMonth * 1e6)
      throw rateLimited(
        `The organisation's limit of ${settings.usdPerMonth} USD for the model a month is reached.`,
        (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000,
      )
  }
  await addRequest(tx, orgId, day, minute, used + 1)
  await addUsed(tx, orgId, day, { ...tokens, costMicros: cost })
  return { ...tokens, day }
}

/** Replaces what was reserved by what was used. */
export const settleCall = (
  tx: Tx,
  settings: AiSettings,
  orgId: string,
  reserved: Reservation,
  used: Tokens,
): Promise<unknown> =>
  addUsed(tx, orgId, reserved.day, {
    inputTokens: used.inputTokens - reserved.inputTokens,
    outputTokens: used.outputTokens - reserved.outputTokens,
    costMicros: costMicros(settings, used) - costMicros(settings, reserved),
  })
