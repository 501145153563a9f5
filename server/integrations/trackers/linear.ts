import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { callTracker, errorOfStatus } from './call-tracker.ts'
import type { TrackerConfig } from './config.ts'
import { writeMarkdown } from './ticket-markdown.ts'
import type { RemoteTicket, Tracker } from './tracker.ts'
import { TrackerError } from './tracker-error.ts'

/** Linear: GraphQL, with ids that the client chooses, so that a repeated call finds the ticket of the first. */

export const LINEAR_URL = 'https://api.linear.app/graphql'
const VENDOR = 'Linear'
const MAX_TITLE = 255
const CLOSED = new Set(['completed', 'canceled', 'duplicate'])
/** Types of states to which a ticket is reopened, best first. */
const OPEN_TYPES = ['unstarted', 'backlog', 'triage', 'started']

const Envelope = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(
      z.object({
        message: z.string().default(''),
        extensions: z.object({ code: z.string().optional(), userPresentableMessage: z.string().optional() }).optional(),
      }),
    )
    .optional(),
})
const State = z.object({ id: z.string(), name: z.string(), type: z.string(), position: z.number() })
const Issue = z.object({
  id: z.string(),
  identifier: z.string(),
  url: z.string(),
  trashed: z.boolean().nullish(),
  state: z.object({ name: z.string(), type: z.string() }),
})
const ISSUE_FIELDS = 'id identifier url trashed state { name type }'

type Config = Extract<TrackerConfig, { provider: 'tracker_a' }>

/** Tickets of a Linear team. */
export function linearTracker(app: App, config: Config, group: string): Tracker {
  async function ask<T>(
    schema: z.ZodType<T>,
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<T> {
    const answer = await callTracker(app, {
      vendor: VENDOR,
      url: config.base_url,
      method: 'POST',
      // A personal key stands alone; a token of OAuth is a bearer token.
      headers: { Authorization: config.api_key.startsWith('lin_oauth_') ? `Bearer ${config.api_key}` : config.api_key },
      json: { query, variables },
      group,
    })
    const { data, errors = [] } = Envelope.catch({}).parse(answer.json)
    const [error] = errors
    const said = error?.extensions?.userPresentableMessage ?? error?.message ?? ''
    switch (error?.extensions?.code) {
      // Linear answers 400 for both.
      case 'RATELIMITED':
        throw new TrackerError('limited', `Linear limits requests: ${said}`, answer.status, waitMsOf(answer.headers))
      case 'AUTHENTICATION_ERROR':
        throw new TrackerError('unauthorised', `Linear refused the key: ${said}`, answer.status)
      case 'FORBIDDEN':
        throw new TrackerError('forbidden', `Linear: ${said}`, answer.status)
      default:
    }
    if (error !== undefined && error.message.startsWith('Entity not found'))
      throw new TrackerError('missing', `Linear: ${said}`, answer.status)
    const failure = errorOfStatus(VENDOR, answer, said)
    if (failure !== null) throw failure
    if (error !== undefined) throw new TrackerError('refused', `Linear: ${said}`, answer.status)
    const parsed = schema.safeParse(data)
    if (!parsed.success) throw new TrackerError('uncertain', 'The answer of Linear is not understood.', answer.status)
    return parsed.data
  }

  /** The number of milliseconds until the window of the limit begins again. */
  function waitMsOf(headers: ReadonlyMap<string, string>): number {
    const resetMs = Number(headers.get('x-ratelimit-requests-reset') ?? Number.NaN)
    const waitMs = resetMs - app.clock.now().getTime()
    return Number.isFinite(waitMs) ? Math.min(3_600_000, Math.max(1_000, waitMs)) : 60_000
  }

  async function read(id: string): Promise<RemoteTicket | null> {
    try {
      const { issue } = await ask(
        z.object({ issue: Issue }),
        `query Ticket($id: String!) { issue(id: $id) { ${ISSUE_FIELDS} } }`,
        { id },
      )
      return issue.trashed === true ? null : ticketFrom(issue)
    } catch (error) {
      if (error instanceof TrackerError && error.kind === 'missing') return null
      throw error
    }
  }

  return {
    vendor: VENDOR,
    isExact: true,
    async readAccount() {
      const { viewer, organization } = await ask(
        z.object({
          viewer: z.object({ name: z.string(), email: z.string().optional() }),
          organization: z.object({ id: z.string(), name: z.string() }),
        }),
        'query Account { viewer { name email } organization { id name } }',
      )
      return { workspace: organization.id, account: `${viewer.name} in ${organization.name}` }
    },
    async listTeams() {
      const { teams } = await ask(
        z.object({
          teams: z.object({ nodes: z.array(z.object({ id: z.string(), key: z.string(), name: z.string() })) }),
        }),
        'query Teams { teams(first: 200) { nodes { id key name } } }',
      )
      return teams.nodes.map(({ id, key, name }) => ({ id, name: `${name} (${key})` }))
    },
    listTypes: () => Promise.resolve([]),
    async create({ marker, teamId, title, text }) {
      const input = { id: marker, teamId, title: title.slice(0, MAX_TITLE), description: writeMarkdown(text) }
      try {
        const { issueCreate } = await ask(
          z.object({ issueCreate: z.object({ success: z.boolean(), issue: Issue.nullable() }) }),
          `mutation Create($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ${ISSUE_FIELDS} } } }`,
          { input },
        )
        if (issueCreate.issue === null) throw new TrackerError('refused', 'Linear did not create the ticket.')
        return ticketFrom(issueCreate.issue)
      } catch (error) {
        // The id is taken: an earlier call created the ticket.
        const found = error instanceof TrackerError && error.kind === 'refused' ? await read(marker) : null
        if (found === null) throw error
        return found
      }
    },
    find: (marker) => read(marker),
    read,
    async reopen(id, comment, commentId) {
      const ticket = await read(id)
      if (ticket === null) return null
      let state = null
      if (ticket.isClosed) {
        const { issue } = await ask(
          z.object({ issue: z.object({ team: z.object({ states: z.object({ nodes: z.array(State) }) }) }) }),
          'query States($id: String!) { issue(id: $id) { team { states { nodes { id name type position } } } } }',
          { id },
        )
        state = openState(issue.team.states.nodes)
        if (state === null) throw new TrackerError('refused', 'The team has no state for open tickets.')
        await ask(
          z.object({ issueUpdate: z.object({ success: z.literal(true) }) }),
          'mutation Reopen($id: String!, $stateId: String!) { issueUpdate(id: $id, input: { stateId: $stateId }) { success } }',
          { id, stateId: state.id },
        )
      }
      try {
        await ask(
          z.object({ commentCreate: z.object({ success: z.literal(true) }) }),
          'mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success } }',
          { input: { id: commentId, issueId: id, body: comment } },
        )
      } catch (error) {
        // A repeated comment has an id that is taken.
        if (
          !(error instanceof TrackerError) ||
          error.kind !== 'refused' ||
          !/already exists|not unique/i.test(error.message)
        )
          throw error
      }
      return { ...ticket, isClosed: false, status: state?.name ?? ticket.status }
    },
    ticketOf(payload) {
      const parsed = z.object({ type: z.literal('Issue'), data: z.object({ id: z.string() }) }).safeParse(payload)
      return parsed.success ? parsed.data.data.id : null
    },
  }
}

const ticketFrom = ({ id, identifier, url, state }: z.infer<typeof Issue>): RemoteTicket => ({
  externalId: id,
  key: identifier,
  url,
  isClosed: CLOSED.has(state.type),
  status: state.name,
})

const openState = (states: readonly z.infer<typeof State>[]) =>
  OPEN_TYPES.flatMap((type) =>
    states.filter((one) => one.type === type).toSorted((a, b) => a.position - b.position),
  )[0] ?? null
