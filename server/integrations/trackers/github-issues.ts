import { z } from 'zod'
import type { AskHost, HostIssues } from './host-issues.ts'
import type { RemoteTicket } from './tracker.ts'

/** Issues of a repository at GitHub and GitHub Enterprise Server. */

const PAGE = 100

const Issue = z.object({
  number: z.int(),
  html_url: z.string(),
  state: z.string(),
  state_reason: z.string().nullish(),
})
const Listed = Issue.extend({ body: z.string().nullish(), pull_request: z.unknown().optional() })
const Comments = z.array(z.object({ body: z.string().nullish() }))

export const githubIssues = (ask: AskHost): HostIssues => ({
  haveIssues: async () => {
    const { has_issues: isOn } = await ask(z.object({ has_issues: z.boolean() }), 'GET', '')
    // A token that may read the code may lack the right to read issues.
    if (isOn) await ask(z.array(Issue), 'GET', '/issues?per_page=1')
    return isOn
  },
  // Without the right to set labels they are left out.
  create: async (title, body) =>
    ticketFrom(await ask(Issue, 'POST', '/issues', { title, body, labels: ['faultline'] })),
  async find(word) {
    // The search of GitHub knows a new issue only after a while: this list knows it at once.
    const newest = await ask(z.array(Listed), 'GET', `/issues?state=all&sort=created&direction=desc&per_page=${PAGE}`)
    const found = newest.find(({ body, pull_request: pull }) => pull === undefined && body?.includes(word) === true)
    return found === undefined ? null : ticketFrom(found)
  },
  read: async (id) => ticketFrom(await ask(Issue, 'GET', `/issues/${id}`)),
  open: async (id) =>
    ticketFrom(await ask(Issue, 'PATCH', `/issues/${id}`, { state: 'open', state_reason: 'reopened' })),
  async hasComment(id, word) {
    const { comments: count } = await ask(z.object({ comments: z.int() }), 'GET', `/issues/${id}`)
    const last = Math.max(1, Math.ceil(count / PAGE))
    const comments = await ask(Comments, 'GET', `/issues/${id}/comments?per_page=${PAGE}&page=${last}`)
    return comments.some(({ body }) => body?.includes(word) === true)
  },
  async comment(id, body) {
    await ask(z.unknown(), 'POST', `/issues/${id}/comments`, { body })
  },
})

const ticketFrom = ({ number, html_url: url, state, state_reason: reason }: z.infer<typeof Issue>): RemoteTicket => ({
  externalId: String(number),
  key: `#${number}`,
  url,
  isClosed: state === 'closed',
  status: state === 'closed' && reason != null ? `closed as ${reason.replaceAll('_', ' ')}` : state,
})
