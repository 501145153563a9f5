import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { callTracker, errorOfStatus, type TrackerAnswer } from './call-tracker.ts'
import type { TrackerConfig } from './config.ts'
import { type RemoteTicket, writeReference, type TicketText, type Tracker } from './tracker.ts'
import { TrackerError } from './tracker-error.ts'

/**
 * Jira: REST v3 of the Cloud, with documents (ADF) and an email address beside the token; REST v2 of a Data Center, with
 * wiki markup and a bearer token. A ticket has its marker as a label and in its text, and is found by them.
 */

const VENDOR = 'Jira'
const MAX_TITLE = 255
const MAX_TEAMS = 200

const Failure = z.object({
  errorMessages: z.array(z.string()).optional(),
  errors: z.record(z.string(), z.string()).optional(),
  message: z.string().optional(),
})
const Status = z.object({ name: z.string(), statusCategory: z.object({ key: z.string() }) })
const Issue = z.object({ id: z.string(), key: z.string(), fields: z.object({ status: Status }) })
const Project = z.object({ id: z.string(), key: z.string(), name: z.string() })
const Type = z.object({ id: z.string(), name: z.string(), subtask: z.boolean().default(false) })
const Transition = z.object({ id: z.string(), to: Status })

type Config = Extract<TrackerConfig, { provider: 'tracker_b' }>

/** Tickets of a Jira project. */
export function jiraTracker(app: App, config: Config, group: string): Tracker {
  const base = config.base_url.replace(/\/+$/, '')
  const isCloud = config.email !== null
  const authorization = isCloud
    ? `Basic ${Buffer.from(`${config.email}:${config.api_token}`).toString('base64')}`
    : `Bearer ${config.api_token}`

  async function ask<T>(schema: z.ZodType<T>, method: 'GET' | 'POST', path: string, json?: unknown): Promise<T> {
    const answer = await callTracker(app, {
      vendor: VENDOR,
      url: `${base}/rest/api/${isCloud ? 3 : 2}/${path}`,
      method,
      // Without it a Data Center takes some requests for those of a browser.
      headers: { Authorization: authorization, 'X-Atlassian-Token': 'no-check' },
      json,
      group,
    })
    const failure = errorOfStatus(VENDOR, answer, saidBy(answer))
    if (failure !== null) throw failure
    const parsed = schema.safeParse(answer.json)
    if (!parsed.success) throw new TrackerError('uncertain', 'The answer of Jira is not understood.', answer.status)
    return parsed.data
  }

  const ticketFrom = ({ id, key, fields: { status } }: z.infer<typeof Issue>): RemoteTicket => ({
    externalId: id,
    key,
    url: `${base}/browse/${key}`,
    isClosed: status.statusCategory.key === 'done',
    status: status.name,
  })

  async function read(id: string): Promise<RemoteTicket | null> {
    try {
      return ticketFrom(await ask(Issue, 'GET', `issue/${encodeURIComponent(id)}?fields=status`))
    } catch (error) {
      if (error instanceof TrackerError && error.kind === 'missing') return null
      throw error
    }
  }

  const textOf = (lines: TicketText): unknown => (isCloud ? documentOf(lines) : wikiOf(lines))
  const comment = (text: string): unknown =>
    isCloud ? { type: 'doc', version: 1, content: [paragraph(text)] } : wikiPlain(text)

  async function commentOnce(id: string, text: string, commentId: string): Promise<void> {
    const reference = `Faultline reference ${commentId}`
    const { comments } = await ask(
      z.object({ comments: z.array(z.looseObject({ body: z.unknown() })) }),
      'GET',
      `issue/${encodeURIComponent(id)}/comment?orderBy=-created&maxResults=50`,
    )
    if (comments.some(({ body }) => JSON.stringify(body).includes(commentId))) return
    await ask(z.unknown(), 'POST', `issue/${encodeURIComponent(id)}/comment`, {
      body: comment(`${text} (${reference})`),
    })
  }

  return {
    vendor: VENDOR,
    isExact: false,
    async readAccount() {
      const me = await ask(z.object({ displayName: z.string() }), 'GET', 'myself')
      return { workspace: base, account: `${me.displayName} at ${new URL(base).host}` }
    },
    async listTeams() {
      const projects = isCloud
        ? (await ask(z.object({ values: z.array(Project) }), 'GET', `project/search?maxResults=${MAX_TEAMS}`)).values
        : await ask(z.array(Project), 'GET', 'project')
      return projects.slice(0, MAX_TEAMS).map(({ key, name }) => ({ id: key, name: `${name} (${key})` }))
    },
    async listTypes(teamId) {
      const listed = await ask(
        z.object({ issueTypes: z.array(Type).optional(), values: z.array(Type).optional() }),
        'GET',
        `issue/createmeta/${encodeURIComponent(teamId)}/issuetypes?maxResults=100`,
      )
      return (listed.issueTypes ?? listed.values ?? [])
        .filter(({ subtask }) => !subtask)
        .map(({ id, name }) => ({ id, name }))
    },
    async create({ marker, teamId, typeId, title, text }) {
      const fields = {
        project: { key: teamId },
        issuetype: { id: typeId },
        // Jira refuses line breaks.
        summary: title.replaceAll(/\s+/g, ' ').slice(0, MAX_TITLE),
        description: textOf({
          ...text,
          paragraphs: [...text.paragraphs, `Faultline reference ${writeReference(marker)}`],
        }),
      }
      const create = (more: object) =>
        ask(z.object({ id: z.string(), key: z.string() }), 'POST', 'issue', { fields: { ...fields, ...more } })
      const made = await create({ labels: ['faultline', writeReference(marker)] }).catch((error: unknown) => {
        // Some screens have no labels.
        if (error instanceof TrackerError && error.kind === 'refused' && /\blabels\b/.test(error.message))
          return create({})
        throw error
      })
      return { externalId: made.id, key: made.key, url: `${base}/browse/${made.key}`, isClosed: false, status: '' }
    },
    async find(marker, teamId) {
      const label = writeReference(marker)
      const jql = `project = "${teamId.replaceAll(/["\\]/g, '')}" AND (labels = "${label}" OR text ~ "${label}")`
      const { issues } = await ask(z.object({ issues: z.array(Issue) }), 'POST', isCloud ? 'search/jql' : 'search', {
        jql,
        fields: ['status'],
        maxResults: 1,
      })
      const [found] = issues
      return found === undefined ? null : ticketFrom(found)
    },
    read,
    async reopen(id, text, commentId) {
      const ticket = await read(id)
      if (ticket === null) return null
      let { status } = ticket
      if (ticket.isClosed) {
        const path = `issue/${encodeURIComponent(id)}/transitions`
        const { transitions } = await ask(z.object({ transitions: z.array(Transition) }), 'GET', path)
        const chosen =
          transitions.find(({ to }) => to.statusCategory.key === 'new') ??
          transitions.find(({ to }) => to.statusCategory.key !== 'done')
        if (chosen === undefined)
          throw new TrackerError('refused', 'The workflow has no transition by which this user may reopen the ticket.')
        await ask(z.unknown(), 'POST', path, { transition: { id: chosen.id } })
        status = chosen.to.name
      }
      await commentOnce(id, text, commentId)
      return { ...ticket, isClosed: false, status }
    },
    ticketOf(payload) {
      const parsed = z
        .object({ webhookEvent: z.string().startsWith('jira:issue_'), issue: z.object({ id: z.string() }) })
        .safeParse(payload)
      return parsed.success ? parsed.data.issue.id : null
    },
  }
}

function saidBy({ json }: TrackerAnswer): string {
  const parsed = Failure.safeParse(json)
  if (!parsed.success) return ''
  const { errorMessages = [], errors = {}, message } = parsed.data
  return [...errorMessages, ...Object.entries(errors).map(([field, text]) => `${field}: ${text}`), message ?? '']
    .filter((text) => text !== '')
    .join(' ')
}

type DocumentNode = { readonly type: string; readonly [key: string]: unknown }

const text = (content: string, marks?: readonly DocumentNode[]): DocumentNode => ({
  type: 'text',
  text: content,
  ...(marks === undefined ? {} : { marks }),
})
/** An empty text node is refused. */
const paragraph = (content: string): DocumentNode => ({
  type: 'paragraph',
  content: content === '' ? [] : [text(content)],
})

/** The Atlassian Document Format, in which a text cannot be markup. */
const documentOf = ({ paragraphs, facts, frames, link }: TicketText): DocumentNode => ({
  type: 'doc',
  version: 1,
  content: [
    ...paragraphs.map(paragraph),
    {
      type: 'bulletList',
      content: facts.map(([label, value]) => ({
        type: 'listItem',
        content: [{ type: 'paragraph', content: [text(`${label}: `, [{ type: 'strong' }]), text(value || '–')] }],
      })),
    },
    ...(frames.length === 0 ? [] : [{ type: 'codeBlock', content: [text(frames.join('\n'))] }]),
    { type: 'paragraph', content: [text(link.label, [{ type: 'link', attrs: { href: link.url } }])] },
  ],
})

/** Wiki markup of a Data Center, in which texts of events are plain. */
const wikiOf = ({ paragraphs, facts, frames, link }: TicketText): string =>
  [
    ...paragraphs.map(wikiPlain),
    facts.map(([label, value]) => `* *${label}:* ${wikiPlain(value)}`).join('\n'),
    ...(frames.length === 0 ? [] : [`{noformat}\n${frames.join('\n').replaceAll('{noformat}', '')}\n{noformat}`]),
    `[${link.label}|${link.url}]`,
  ].join('\n\n')

const wikiPlain = (content: string): string =>
  content.replaceAll(/[\\*_?{}[\]!|^~+#@-]/g, (character) => `\\${character}`).replaceAll(/\s+/g, ' ')
