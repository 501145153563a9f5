import { createHmac, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/** Linear's GraphQL: the operations that the service sends, the errors and limits as Linear answers them. */

export const LINEAR_KEY = 'lin_api_0123456789abcdefghijABCDEFGHIJ'
export const LINEAR_TEAM = '9d1a7c1e-6d3b-4b1c-9f0e-2f6f1f6a0001'
const ORGANISATION = { id: '5a1a7c1e-6d3b-4b1c-9f0e-2f6f1f6a0002', name: 'Acme' }

const STATES = [
  { id: 'state-backlog', name: 'Backlog', type: 'backlog', position: 0 },
  { id: 'state-todo', name: 'Todo', type: 'unstarted', position: 1 },
  { id: 'state-doing', name: 'In Progress', type: 'started', position: 2 },
  { id: 'state-done', name: 'Done', type: 'completed', position: 3 },
] as const
type State = (typeof STATES)[number]

export type LinearTicket = {
  readonly id: string
  readonly identifier: string
  readonly title: string
  readonly description: string
  state: State
  trashed: boolean
  readonly comments: { readonly id: string; readonly body: string }[]
}

export type LinearTracker = {
  /** The GraphQL endpoint. */
  readonly url: string
  readonly tickets: LinearTicket[]
  /** Requests by the name of their operation, in order. */
  readonly operations: string[]
  /** Answers given instead, for one request each. */
  readonly faults: ((operation: string) => Answer | undefined)[]
  /** The key that is accepted. */
  key: string
  close(ticket: LinearTicket): void
  /** Headers and body of the delivery about a ticket. */
  delivery(
    ticket: LinearTicket,
    secret: string,
    at?: number,
  ): { readonly headers: Record<string, string>; readonly body: string }
  readonly receiver: Receiver
}

const V4 = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
const Request = z.strictObject({ query: z.string(), variables: z.record(z.string(), z.unknown()) })
const Create = z.object({
  input: z.strictObject({
    id: V4,
    teamId: z.literal(LINEAR_TEAM),
    title: z.string().min(1).max(255),
    description: z.string(),
  }),
})
const Comment = z.object({ input: z.strictObject({ id: V4, issueId: z.string(), body: z.string().min(1) }) })
const Update = z.object({ id: z.string(), stateId: z.enum(STATES.map(({ id }) => id)) })

const error = (message: string, code: string, status = 200): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    errors: [{ message, extensions: { code, type: code.toLowerCase(), userPresentableMessage: message } }],
  }),
})
/** Linear answers 400 when a limit is reached. */
export const linearLimit = (resetAtMs: number): Answer => ({
  status: 400,
  headers: { 'Content-Type': 'application/json', 'X-RateLimit-Requests-Reset': String(resetAtMs) },
  body: JSON.stringify({ errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }] }),
})

export async function startLinear(): Promise<LinearTracker> {
  const tickets: LinearTicket[] = []
  const operations: string[] = []
  const faults: LinearTracker['faults'] = []
  let url = ''
  const view = ({ id, identifier, state, trashed }: LinearTicket) => ({
    id,
    identifier,
    url: `${url}/acme/issue/${identifier}`,
    trashed,
    state: { name: state.name, type: state.type },
  })
  const data = (value: unknown): Answer => ({
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ data: value }),
  })

  function act(operation: string, variables: Record<string, unknown>): Answer {
    const find = () => tickets.find(({ id }) => id === variables['id'])
    if (operation === 'Account')
      return data({ viewer: { name: 'Ada', email: 'ada@acme.test' }, organization: ORGANISATION })
    if (operation === 'Teams') return data({ teams: { nodes: [{ id: LINEAR_TEAM, key: 'ENG', name: 'Engineering' }] } })
    if (operation === 'Create') {
      const { input } = Create.parse(variables)
      if (tickets.some(({ id }) => id === input.id)) return error('Entity with this id already exists', 'INPUT_ERROR')
      const ticket = {
        id: input.id,
        identifier: `ENG-${tickets.length + 1}`,
        title: input.title,
        description: input.description,
        state: STATES[1],
        trashed: false,
        comments: [],
      }
      tickets.push(ticket)
      return data({ issueCreate: { success: true, issue: view(ticket) } })
    }
    if (operation === 'Comment') {
      const { input } = Comment.parse(variables)
      const ticket = tickets.find(({ id }) => id === input.issueId)
      if (ticket === undefined) return error('Entity not found: Issue', 'INPUT_ERROR')
      if (ticket.comments.some(({ id }) => id === input.id))
        return error('Entity with this id already exists', 'INPUT_ERROR')
      ticket.comments.push({ id: input.id, body: input.body })
      return data({ commentCreate: { success: true } })
    }
    const ticket = find()
    if (ticket === undefined) return error('Entity not found: Issue - Could not find referenced Issue.', 'INPUT_ERROR')
    if (operation === 'Ticket') return data({ issue: view(ticket) })
    if (operation === 'States') return data({ issue: { team: { states: { nodes: STATES } } } })
    const { stateId } = Update.parse(variables)
    ticket.state = STATES.find(({ id }) => id === stateId) ?? ticket.state
    return data({ issueUpdate: { success: true } })
  }

  const tracker: LinearTracker = {
    get url() {
      return `${url}/graphql`
    },
    tickets,
    operations,
    faults,
    key: LINEAR_KEY,
    close: (ticket) => void (ticket.state = STATES[3]),
    delivery(ticket, secret, at = Date.now()) {
      const body = JSON.stringify({
        action: 'update',
        type: 'Issue',
        data: { id: ticket.id, identifier: ticket.identifier, state: ticket.state },
        organizationId: ORGANISATION.id,
        webhookTimestamp: at,
        webhookId: randomUUID(),
      })
      return { headers: { 'Linear-Signature': createHmac('sha256', secret).update(body).digest('hex') }, body }
    },
    receiver: await startReceiver({ respond }),
  }
  url = tracker.receiver.url
  return tracker

  function respond({ headers, body }: ReceivedRequest): Answer {
    const { query, variables } = Request.parse(JSON.parse(body.toString()))
    const operation = /^(?:query|mutation) (\w+)/.exec(query)?.[1] ?? ''
    operations.push(operation)
    const fault = faults.shift()?.(operation)
    if (fault !== undefined) return fault
    if (headers['authorization'] !== tracker.key)
      return error('Authentication required, not authenticated', 'AUTHENTICATION_ERROR', 401)
    return act(operation, variables)
  }
}
