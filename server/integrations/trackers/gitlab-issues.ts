import { z } from 'zod'
import type { AskHost, HostIssues } from './host-issues.ts'
import type { RemoteTicket } from './tracker.ts'

/** Issues of a project at gitlab.com or a self-managed GitLab, known by their number in the project. */

const Issue = z.object({ iid: z.int(), web_url: z.string(), state: z.string() })
const Project = z.object({ issues_enabled: z.boolean().nullish(), issues_access_level: z.string().nullish() })
const Notes = z.array(z.object({ body: z.string() }))

export const gitlabIssues = (ask: AskHost): HostIssues => ({
  async haveIssues() {
    const { issues_enabled: isOn, issues_access_level: level } = await ask(Project, 'GET', '')
    if (isOn === false || level === 'disabled') return false
    await ask(z.array(Issue), 'GET', '/issues?per_page=1')
    return true
  },
  create: async (title, description) =>
    ticketFrom(await ask(Issue, 'POST', '/issues', { title, description, labels: 'faultline' })),
  async find(word) {
    const [found] = await ask(
      z.array(Issue),
      'GET',
      `/issues?search=${encodeURIComponent(word)}&in=description&scope=all&per_page=1`,
    )
    return found === undefined ? null : ticketFrom(found)
  },
  read: async (id) => ticketFrom(await ask(Issue, 'GET', `/issues/${id}`)),
  open: async (id) => ticketFrom(await ask(Issue, 'PUT', `/issues/${id}`, { state_event: 'reopen' })),
  hasComment: async (id, word) =>
    (await ask(Notes, 'GET', `/issues/${id}/notes?sort=desc&order_by=created_at&per_page=50`)).some(({ body }) =>
      body.includes(word),
    ),
  async comment(id, body) {
    await ask(z.unknown(), 'POST', `/issues/${id}/notes`, { body })
  },
})

const ticketFrom = ({ iid, web_url: url, state }: z.infer<typeof Issue>): RemoteTicket => ({
  externalId: String(iid),
  key: `#${iid}`,
  url,
  isClosed: state === 'closed',
  status: state === 'opened' ? 'open' : state,
})
