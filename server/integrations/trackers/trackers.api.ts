import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

/** Trackers of projects, and tickets of issues. */

/** Providers that send deliveries of their own. */
const WEBHOOK_PROVIDERS = ['tracker_a', 'tracker_b'] as const
export const TRACKER_PROVIDERS = [...WEBHOOK_PROVIDERS, 'codehost'] as const

const field = (name: string, what: string, max = 1_000) =>
  z
    .string({ error: `${name} is missing: ${what}.` })
    .trim()
    .min(1, { error: `${name} is missing: ${what}.` })
    .max(max, { error: `${name} must be at most ${max.toLocaleString('en-GB')} characters.` })
    .regex(/^[\x20-\x7e]*$/, { error: `${name} holds a character that no ${what} has.` })

const credentials = {
  base_url: field('base_url', 'address').optional(),
  api_key: field('api_key', 'API key').optional(),
  email: field('email', 'email address', 320).optional(),
  api_token: field('api_token', 'token').optional(),
}

const provider = z
  .enum(TRACKER_PROVIDERS, {
    error: 'provider must be tracker_a (Linear), tracker_b (Jira) or codehost (the issues of the repository).',
  })
  .describe(
    'tracker_a: Linear. tracker_b: Jira, of the Cloud with `email` and of a Data Center without. codehost: issues of the repository at GitHub or GitLab to which the project is connected, with the token of that connection.',
  )

const Named = z.object({ id: z.string(), name: z.string() })

export const TrackerState = z
  .enum(['not_connected', 'works', 'slowed_down', 'broken'])
  .describe('slowed_down: the tracker limits or answers with errors. broken: it refused the credentials.')

export const TrackerView = z.object({
  state: TrackerState,
  integration: z
    .object({
      id: Id,
      provider: z.enum(TRACKER_PROVIDERS),
      account: z.string().describe('Who acts in the tracker.'),
      team: Named,
      type: Named.nullable(),
      sync_states: z.boolean(),
      webhook_path: z
        .string()
        .nullable()
        .describe(
          'Path and query of the webhook, without the token that only the answer of POST has. Null for codehost.',
        ),
      created_at: Timestamp,
      updated_at: Timestamp,
      last_received_at: Timestamp.nullable(),
      last_sent_at: Timestamp.nullable(),
      last_error: z.string().nullable().describe('The newest error, word for word; null after a later success.'),
      last_error_at: Timestamp.nullable(),
    })
    .nullable(),
})
z.globalRegistry.add(TrackerView, { id: 'Tracker' })
export type TrackerView = z.infer<typeof TrackerView>

export const TrackerTicket = z.object({
  id: z.string().describe('As the tracker names it, such as `SHOP-12`.'),
  url: z.string(),
  provider: z.enum(TRACKER_PROVIDERS),
  state: z.enum(['open', 'closed', 'reopening', 'gone']).describe('gone: the ticket was deleted in the tracker.'),
  status: z
    .string()
    .nullable()
    .describe('The status of the ticket in the words of the tracker; null when it has no words for it.'),
  is_followed: z.boolean().describe('States go both ways.'),
  created_at: Timestamp,
})
z.globalRegistry.add(TrackerTicket, { id: 'TrackerTicket' })
export type TrackerTicket = z.infer<typeof TrackerTicket>

const projectId = z.object({ projectId: Id })

export const trackerRoutes = routes({
  readTracker: {
    method: 'GET',
    path: '/api/projects/:projectId/integrations/tracker',
    tag: 'Integrations',
    summary: 'The tracker of a project',
    description: 'Credentials are never answered.',
    permission: 'integrations.read',
    params: projectId,
    response: TrackerView,
    refusals: [404],
  },
  listTrackerChoices: {
    method: 'POST',
    path: '/api/projects/:projectId/integrations/tracker/choices',
    tag: 'Integrations',
    summary: 'Teams and kinds of tickets that the credentials offer',
    description:
      'Stores nothing. Credentials that are left out are those of the tracker that is connected. The lists are those of the tracker, at most 200 teams, and have no total.',
    permission: 'integrations.write',
    params: projectId,
    body: z.strictObject({ provider, ...credentials, team_id: field('team_id', 'team', 200).optional() }),
    response: z.object({ account: z.string(), teams: z.array(Named), types: z.array(Named) }),
    refusals: [404],
  },
  connectTracker: {
    method: 'POST',
    path: '/api/projects/:projectId/integrations/tracker',
    tag: 'Integrations',
    summary: 'Connect a tracker, or change how it is connected',
    description:
      'The credentials are tried before they are stored. Only this answer has the secret and the address of the webhook. Each call makes others for Jira. For Linear the address stays, and so does the secret until `webhook_secret` sets the one that Linear made for its webhook.',
    permission: 'integrations.write',
    params: projectId,
    body: z.strictObject({
      provider,
      ...credentials,
      team_id: field('team_id', 'team', 200).optional().describe('By default the only one that the credentials offer.'),
      type_id: field('type_id', 'type', 200).optional(),
      webhook_secret: field('webhook_secret', 'secret', 200)
        .min(16, { error: 'webhook_secret must have at least 16 characters.' })
        .optional(),
      sync_states: z
        .boolean({ error: 'sync_states must be true or false.' })
        .optional()
        .describe('Whether states go both ways. Without it the stored value stays; true at first.'),
    }),
    status: 201,
    response: TrackerView.extend({
      webhook: z
        .object({ url: z.string(), secret: z.string() })
        .nullable()
        .describe('Null for codehost: the webhook of the code host delivers changes of its issues, too.'),
    }),
    refusals: [404, 409],
  },
  disconnectTracker: {
    method: 'DELETE',
    path: '/api/projects/:projectId/integrations/tracker',
    tag: 'Integrations',
    summary: 'Disconnect the tracker',
    description: 'Tickets and their links stay; their states are not followed any more.',
    permission: 'integrations.write',
    params: projectId,
    status: 204,
    refusals: [404],
  },
  createTrackerTicket: {
    method: 'POST',
    path: '/api/issues/:issueId/tracker-ticket',
    tag: 'Issues',
    summary: 'Create a ticket of an issue in the tracker',
    description:
      'Once: a further call answers 200 with the same ticket, however many are made at the same time. 409 when the project has no tracker, or the tracker refuses. An API key needs the scope issues:read too.',
    permission: 'issues.write',
    params: z.object({ issueId: Id }),
    status: 201,
    otherStatus: 200,
    response: TrackerTicket,
    refusals: [404, 409],
  },
  takeTrackerDelivery: {
    method: 'POST',
    path: '/api/integrations/tracker/webhook',
    tag: 'Integrations',
    summary: 'Take a delivery of the webhook of a tracker',
    description:
      'Called by the tracker. tracker_a: Linear-Signature (or X-Tracker-Signature, or X-Hub-Signature with sha256=) is the hexadecimal HMAC-SHA256 of the body, and webhookTimestamp of the body is within a minute. tracker_b: `token` of the query, or X-Hub-Signature. 401 whatever is wrong.',
    permission: 'public',
    query: z.object({
      provider: z.enum(WEBHOOK_PROVIDERS, { error: 'provider must be tracker_a or tracker_b.' }),
      integration: z.string().max(100).optional(),
      token: z.string().max(200).optional(),
    }),
    rawBody: true,
    response: z.object({}),
    refusals: [401],
  },
})
