import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { z } from 'zod'
import type { TicketText } from './tracker.ts'

/** An issue as its ticket shows it. */
export type DescribedIssue = {
  readonly id: string
  readonly projectId: string
  readonly title: string
  readonly text: TicketText
}

const MAX_FRAMES = 12
const MAX_VALUE = 300

/** The parts of `GET /api/issues/:issueId` that a ticket shows. */
const Issue = z.object({
  id: z.string(),
  short_id: z.string(),
  project_id: z.string(),
  title: z.string(),
  culprit: z.string(),
  level: z.string(),
  first_seen: z.string(),
  last_seen: z.string(),
  event_count: z.number(),
  user_count: z.number(),
  first_release: z.string().nullable(),
  last_release: z.string().nullable(),
  event: z
    .object({
      exceptions: z
        .array(
          z.object({
            stacktrace: z
              .object({
                frames: z.array(
                  z.looseObject({
                    function: z.string().nullish(),
                    filename: z.string().nullish(),
                    lineno: z.number().nullish(),
                    in_app: z.boolean().nullish(),
                  }),
                ),
              })
              .nullable(),
          }),
        )
        .catch([]),
    })
    .nullable()
    .catch(null),
})

/** The text of the ticket of an issue. @throws AppError not_found */
export async function describeIssue(app: App, actor: OrgActor, issueId: string): Promise<DescribedIssue | null> {
  const issue = Issue.parse(await app.operations.call(actor, 'readIssue', { params: { issueId } }))
  const seen = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`
  return {
    id: issue.id,
    projectId: issue.project_id,
    title: `${issue.short_id}: ${issue.title}`,
    text: {
      paragraphs: [cut(issue.title), ...(issue.culprit === '' ? [] : [`In ${cut(issue.culprit)}`])],
      facts: [
        ['Events', issue.event_count.toLocaleString('en-GB')],
        ['Users', issue.user_count.toLocaleString('en-GB')],
        [
          'First seen',
          `${seen(issue.first_seen)}${issue.first_release === null ? '' : `, release ${cut(issue.first_release)}`}`,
        ],
        [
          'Last seen',
          `${seen(issue.last_seen)}${issue.last_release === null ? '' : `, release ${cut(issue.last_release)}`}`,
        ],
        ['Level', issue.level],
      ],
      frames: framesOf(issue),
      link: { label: `Open ${issue.short_id} in Faultline`, url: `${app.config.publicUrl}/issues/${issue.id}` },
    },
  }
}

const cut = (text: string): string => (text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text)

/** Frames of the exception that was thrown, newest call first; those of the app where it has some. */
function framesOf({ event }: z.infer<typeof Issue>): string[] {
  const frames = event?.exceptions.at(-1)?.stacktrace?.frames ?? []
  const own = frames.filter(({ in_app: isOwn }) => isOwn === true)
  return (own.length > 0 ? own : frames)
    .toReversed()
    .slice(0, MAX_FRAMES)
    .map(({ function: name, filename, lineno }) =>
      cut(`at ${name ?? '?'} (${filename ?? '?'}${lineno == null ? '' : `:${lineno}`})`),
    )
}
