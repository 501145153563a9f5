import { createHash } from 'node:crypto'
import { z } from 'zod'
import { invalid } from '../../platform/kernel/errors.ts'
import type { SignedRequest } from './chat-signature.ts'

/** The payload that the chat platform sends when a user presses a button (Slack's `block_actions`). */

const id = z.string().min(1).max(100)
const name = z.string().max(200).nullish()

const Payload = z.object({
  type: z.string(),
  team: z.object({ id, domain: name, name }).nullish(),
  user: z.object({ id, team_id: id.nullish(), username: name, name }),
  trigger_id: z.string().max(1_000).nullish(),
  response_url: z.string().max(2_000).nullish(),
  actions: z
    .array(
      z.object({
        action_id: z.string().max(255),
        value: z.string().max(2_000).nullish(),
        action_ts: z.string().max(100).nullish(),
      }),
    )
    .max(25)
    .default([]),
})

export type ChatUser = {
  readonly teamId: string
  readonly teamName: string
  readonly userId: string
  readonly userName: string
}

export type Press = {
  readonly user: ChatUser
  readonly actionId: string
  readonly value: string
  /** Names the press in every delivery of it. */
  readonly key: Buffer
  /** Where the message can be updated; an address of the platform. */
  readonly responseUrl: string | null
}

/**
 * @returns the press of a button; null for other interactions, which need no answer
 * @throws AppError invalid
 */
export function readPress({ headers, body }: SignedRequest): Press | null {
  const parsed = Payload.safeParse(jsonOf(payloadOf(body.toString(), headers['content-type'])))
  if (!parsed.success) throw invalid('The payload is not an interaction of the chat platform.')
  const { type, team, user, trigger_id, response_url, actions } = parsed.data
  const [action] = actions
  if (type !== 'block_actions' || action === undefined) return null
  // Outside of a workspace, in an organisation of several, only the user has one.
  const teamId = team?.id ?? user.team_id
  if (teamId == null) throw invalid('The payload names no team.')
  const named = trigger_id ?? [action.action_id, action.value, action.action_ts].join('\n')
  return {
    user: {
      teamId,
      teamName: team?.domain ?? team?.name ?? teamId,
      userId: user.id,
      userName: user.username ?? user.name ?? user.id,
    },
    actionId: action.action_id,
    value: action.value ?? '',
    key: createHash('sha256')
      .update(JSON.stringify([teamId, user.id, named]))
      .digest(),
    responseUrl: response_url ?? null,
  }
}

/** The platform sends a form with one field; others send the JSON itself. */
function payloadOf(text: string, contentType: string | undefined): string {
  if (/^application\/json\b/i.test(contentType ?? '')) return text
  const payloads = new URLSearchParams(text).getAll('payload')
  if (payloads.length !== 1) throw invalid('The body must be a form with one field payload.')
  return payloads[0] ?? ''
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('The payload is not valid JSON.')
  }
}
