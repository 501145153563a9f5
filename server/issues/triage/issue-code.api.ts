import { z } from 'zod'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'
import { Person } from '../rules/issue.api.ts'

/** The part of an issue about the code of its project. */

const TouchedFile = z.object({
  path: z.string().describe('In the repository.'),
  line: z.number().int().nullable().describe('The line of the frame; null when the frame has none.'),
  frame: z.number().int().describe('1 is the innermost frame of the app.'),
  is_line_changed: z
    .boolean()
    .describe('Whether the commit changed this line. False as well when its lines are not known.'),
})

export const SuspectCommit = z.object({
  sha: z.string(),
  url: z.string().nullable(),
  title: z.string(),
  author_name: z.string().nullable(),
  member: Person.nullable().describe(
    'The member with the address or account of the author; null when no member has them.',
  ),
  committed_at: Timestamp,
  pull: z.object({ label: z.string(), url: z.string() }).nullable(),
  release: z.string().nullable().describe('The first release of the issue; null when it does not contain the commit.'),
  files: z.array(TouchedFile).describe('Files of frames that it changed, innermost first.'),
  excerpt: z
    .object({
      path: z.string(),
      url: z.string().nullable(),
      lines: z.array(z.object({ line: z.number().int(), sign: z.enum([' ', '+', '-']), text: z.string() })),
    })
    .nullable()
    .describe('The changed line and its neighbours; null when the lines of the commit are not known.'),
})
z.globalRegistry.add(SuspectCommit, { id: 'SuspectCommit' })
export type SuspectCommit = z.infer<typeof SuspectCommit>

const CodeMention = z.object({
  kind: z.enum(['commit', 'pull']),
  label: z.string().describe('Such as `a3f91c2`, `#12` or `!12`.'),
  title: z.string(),
  url: z.string(),
  author: z.string().nullable(),
  state: z
    .enum(['mentioned', 'open', 'merged', 'closed', 'fixes'])
    .describe('fixes: it came to the default branch and says that it fixes the issue.'),
  says_fix: z.boolean().describe('Whether it says that it fixes the issue, also before it came to the default branch.'),
  at: Timestamp,
})

const IssueFix = z.object({
  change: CodeMention.nullable().describe(
    'The commit or pull request that fixes the issue, or is to: what came to the default branch first, then what is open. Null when none names it.',
  ),
  branch: z.string().nullable().describe('The default branch; null while it is not known.'),
  release: z
    .object({
      id: Id,
      version: z.string(),
      is_planned: z.boolean().describe('It is announced only.'),
      released_at: Timestamp.describe('By its date, else when it was created.'),
      first_seen: Timestamp.nullable().describe('Receipt of its first event or session; null before.'),
      deploy: z
        .object({ environment: z.string(), at: Timestamp })
        .nullable()
        .describe('The newest one that ended; null when none did.'),
    })
    .nullable()
    .describe('The release in which the issue is resolved; null when it is resolved in none.'),
  reports_deploys: z.boolean().describe('Whether a release of the project has a deploy.'),
})
export type IssueFix = z.infer<typeof IssueFix>

export const IssueCode = z.object({
  repository_url: z.string().nullable().describe('Null without a code host.'),
  provider: z.enum(['github', 'gitlab']).nullable(),
  release: z
    .object({
      id: Id,
      version: z.string(),
      commit_count: z.number().int(),
      since: z
        .object({ id: Id, version: z.string() })
        .nullable()
        .describe('The release before it; null where its commits do not say it.'),
      numbers: z
        .object({
          commits: z.number().int().describe('The commits that are counted: the newest 1,000.'),
          authors: z.number().int(),
          files: z.number().int().nullable().describe('Null while no commit says its files.'),
          are_files_cut: z.boolean().describe('There are more than the files of 20,000 changes.'),
          pulls: z.number().int().describe('Pull requests that messages of merges name.'),
        })
        .nullable()
        .describe('Null without commits.'),
    })
    .nullable()
    .describe('The first release of the issue and its commits; null when its events name none.'),
  compared_frames: z
    .number()
    .int()
    .describe('Frames of the app in the event that name a file, at most 20: commits are compared with these.'),
  suspects: z
    .array(SuspectCommit)
    .describe('Commits that changed files of frames of the app, the likeliest first, at most 5.'),
  suspect_count: z.number().int(),
  known_until: Timestamp.nullable().describe('Date of the newest known commit; null when none is known.'),
  source_links: z
    .array(
      z.object({
        file: z.string().describe('The file as a frame names it.'),
        path: z.string(),
        url: z.string().describe('Without the line: append `#L` and its number.'),
        is_exact: z
          .boolean()
          .describe("Whether it leads to the commit of the event's release, not to the default branch."),
      }),
    )
    .describe('Frames of the app in the repository.'),
  mentions: z.array(CodeMention).describe('Commits and pull requests that name the issue, newest first, at most 20.'),
  fix: IssueFix.describe('How far a fix has come.'),
})
z.globalRegistry.add(IssueCode, { id: 'IssueCode' })
export type IssueCode = z.infer<typeof IssueCode>
