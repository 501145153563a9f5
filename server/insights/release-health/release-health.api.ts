import { z } from 'zod'
import { Issue } from '../../issues/rules/issue.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { csvTable, formatQuery } from '../../platform/kernel/csv.ts'
import { Id, pageQuery, pageSchema, Rate, Timestamp, oneOrMany } from '../../platform/kernel/page.api.ts'
import { ListedParts, Release, RELEASE_STATES, ReleaseParts } from '../../projects/releases/releases.api.ts'

/** Releases with adoption, crash-free rates, issues and verdict. */

export const RELEASE_RANGES = ['1h', '24h', '7d', '30d'] as const
const Range = z
  .enum(RELEASE_RANGES, { error: `range must be one of ${RELEASE_RANGES.join(', ')}.` })
  .default('30d')
  .describe('Time range of sessions and crash-free rates, ending now.')
export type ReleaseRange = z.infer<typeof Range>

export const RELEASE_SORTS = ['date', 'created_at', 'version'] as const
export const ReleaseSort = z.enum(
  RELEASE_SORTS.flatMap((key) => [key, `-${key}`] as const),
  { error: `sort must be one of ${RELEASE_SORTS.join(', ')}, with a leading - for descending.` },
)
export type ReleaseSort = z.infer<typeof ReleaseSort>

const Environment = z
  .string()
  .min(1, { error: 'environment must not be empty.' })
  .max(64, { error: 'environment must be at most 64 characters.' })
  .optional()
  .describe('Only sessions of this environment.')

const fraction = Rate.nullable()

export const VERDICTS = [
  'healthy',
  'watch',
  'hold',
  'too_early',
  'replaced',
  'no_sessions',
  'planned',
  'archived',
] as const
export const Verdict = z.enum(VERDICTS)
export type Verdict = z.infer<typeof Verdict>

const AtAge = z.object({
  version: z.string(),
  sessions: z.number().int(),
  crashed: z.number().int(),
  adoption: fraction.describe("Its share of the project's sessions in that time, 0 to 1; null without sessions."),
  users: z.number().int().nullable(),
  crash_free_sessions: fraction,
  crash_free_users: fraction,
})

export const Comparison = z
  .object({
    age_hours: z.number().int().describe('Whole hours since the date of the release, at most 168.'),
    release: AtAge,
    previous: AtAge,
  })
  .describe('The release and the previous one, each in the first `age_hours` after its date.')
export type Comparison = z.infer<typeof Comparison>

export const VerdictNumbers = z
  .object({
    sessions: z.number().int(),
    crash_free_sessions: fraction,
    fall: fraction.describe(
      'Of crash-free sessions against the previous release; negative when it rose, null without a comparison.',
    ),
    standard_error: fraction.describe(
      'Of the fall, which counts where it is more than two of them; null without a comparison.',
    ),
    is_significant: z.boolean(),
    previous: z.string().nullable().describe('The version that it is compared with; null without one.'),
    age_hours: z
      .number()
      .int()
      .nullable()
      .describe(
        'Both were compared at this age; null: over the range, because they were not compared by age, or one had fewer than 1,000 sessions by then.',
      ),
    regressions: z.number().int(),
    decided_by: z
      .enum(['crash_free_sessions', 'fall', 'regressions', 'sessions'])
      .nullable()
      .describe('The number behind the verdict; null when the release is not judged.'),
  })
  .describe('What the verdict was decided by.')
export type VerdictNumbers = z.infer<typeof VerdictNumbers>

const Health = z.object({
  adoption: fraction.describe("Share of the project's sessions in the last 24 h, 0 to 1; null when there were none."),
  adoption_users: fraction.describe(
    'Share of the users in the last 24 h, 0 to 1; null when no session names its user.',
  ),
  adoption_trend: z
    .array(fraction)
    .describe(
      'Share of the sessions of each interval of the range, 0 to 1, oldest first; null where the project has none, empty without sessions.',
    ),
  sessions: z.number().int().nullable().describe('In the range; null when the project has no sessions in it.'),
  users: z.number().int().nullable().describe('Distinct users in `users_range`; null when no session names its user.'),
  users_range: z.enum(RELEASE_RANGES).describe('Time range of `users` and `crash_free_users`: the requested one.'),
  crash_free_sessions: fraction.describe('Share of sessions that did not crash, 0 to 1; null without sessions.'),
  crash_free_users: fraction.describe(
    'Share of these users without a crash, 0 to 1; null when no session names its user.',
  ),
  previous: z
    .object({ version: z.string(), crash_free_sessions: Rate })
    .nullable()
    .describe('The previous release with at least 1,000 sessions in the range; null when there is none.'),
  new_issues: z.number().int().describe('Issues first seen in the release; counted up to 10,000.'),
  regressions: z.number().int().describe('Issues that regressed in the release; counted up to 10,000.'),
  verdict: Verdict,
  verdict_reason: z.string().describe('The reason for the verdict, one sentence.'),
  verdict_numbers: VerdictNumbers,
  comparison: Comparison.nullable().describe(
    'Of the newest five releases of a list that are younger than 14 days, and of a single release; null without a previous one and in the first hour.',
  ),
})

export const ReleaseWithHealth = Release.extend(Health.shape)
export type ReleaseWithHealth = z.infer<typeof ReleaseWithHealth>

export const ListedRelease = ReleaseWithHealth.extend(ListedParts.shape)
export type ListedRelease = z.infer<typeof ListedRelease>

const CrashFreeHours = z
  .array(z.object({ hour: z.number().int(), sessions: z.number().int(), crash_free_sessions: fraction }))
  .describe('The first 48 hours since the date of the release, up to now.')

const ByTrait = z.array(
  z.object({
    name: z.string().nullable().describe('Null for sessions without this attribute.'),
    sessions: z.number().int(),
    share: Rate.describe('Of the sessions of this release, 0 to 1.'),
    crash_free_sessions: Rate,
  }),
)

export const ReleaseDetail = ReleaseWithHealth.extend({
  ...ReleaseParts.shape,
  new_issue_list: z.array(Issue).describe('First seen in the release, most recently seen first; at most 25.'),
  regressed_issues: z.array(Issue).describe('Regressed in the release; at most 25.'),
  resolved_issues: z.array(Issue).describe('Resolved in the release; at most 25.'),
  series: z
    .object({
      interval_seconds: z.number().int(),
      points: z.array(
        z.object({
          t: Timestamp,
          sessions: z.number().int(),
          adoption: fraction,
          crash_free_sessions: fraction,
        }),
      ),
    })
    .nullable()
    .describe('Null without sessions in the range.'),
  crash_free_hours: CrashFreeHours.nullable(),
  environments: z.array(z.string()).describe('Environments of its sessions.'),
  devices: ByTrait.describe('Its sessions in the range by device family, largest share first; at most 10.'),
  systems: ByTrait.describe('The same by operating system.'),
})
export type ReleaseDetail = z.infer<typeof ReleaseDetail>

export const ReleasesHealth = z.object({
  range: Range,
  interval_seconds: z.number().int(),
  environments: z.array(z.string()).describe("Environments of the project's sessions in the range; at most 50."),
  adoption: z
    .object({
      times: z.array(Timestamp),
      totals: z.array(z.number().int()).describe('Sessions of all releases per interval.'),
      releases: z
        .array(z.object({ release_id: Id.nullable(), version: z.string(), sessions: z.array(z.number().int()) }))
        .describe('The releases with the most sessions, newest first, at most 5.'),
      others: z.array(z.number().int()),
    })
    .nullable()
    .describe('Null without sessions in the range.'),
  crash_free: z
    .array(z.object({ release_id: Id, version: z.string(), since: Timestamp, hours: CrashFreeHours }))
    .describe('The newest three releases with sessions, by hours since their date.'),
})
export type ReleasesHealth = z.infer<typeof ReleasesHealth>

const project = { projectId: Id }

const ListedReleases = pageSchema(ListedRelease)
const releasesTable = csvTable('releases', ListedReleases, ({ items }) => items, [
  'version',
  'project_id',
  'state',
  'released_at',
  'first_seen',
  'adoption',
  'sessions',
  'users',
  'crash_free_sessions',
  'crash_free_users',
  'new_issues',
  'regressions',
  'verdict',
  'verdict_reason',
])

export const releaseHealthRoutes = routes({
  listReleases: {
    method: 'GET',
    path: '/api/releases',
    tag: 'Releases',
    summary: 'Releases with adoption, crash-free rates, issues and a verdict',
    description:
      '`date` is the date of a release: released_at, else first seen, else created. `version` sorts 1.9.0 before 1.10.0 and 2.3.1-rc.1 before 2.3.1. Figures are computed from sessions; without sessions they are null, never 0.',
    permission: 'releases.read',
    query: z.strictObject({
      ...pageQuery(25),
      projectId: Id.optional().describe('All projects of the organisation by default.'),
      sort: ReleaseSort.default('-date'),
      range: Range,
      environment: Environment,
      q: z
        .string()
        .max(200, { error: 'q must be at most 200 characters.' })
        .optional()
        .describe('Part of the version.'),
      version: z.string().max(200).optional().describe('Exactly this version.'),
      state: oneOrMany(
        z.array(z.enum(RELEASE_STATES, { error: `state must be one of ${RELEASE_STATES.join(', ')}.` })).max(10),
      )
        .optional()
        .describe('May repeat. All states by default.'),
      ...formatQuery,
    }),
    response: ListedReleases,
    csv: releasesTable,
    refusals: [404],
  },
  readReleasesHealth: {
    method: 'GET',
    path: '/api/releases/health',
    tag: 'Releases',
    summary: 'Adoption over time, and crash-free sessions by hours since release',
    permission: 'releases.read',
    query: z.strictObject({ ...project, range: Range, environment: Environment }),
    response: ReleasesHealth,
    refusals: [404],
  },
  readRelease: {
    method: 'GET',
    path: '/api/releases/:releaseId',
    tag: 'Releases',
    summary: 'A release with its commits, deploys, issues and health',
    permission: 'releases.read',
    params: z.object({ releaseId: Id }),
    query: z.strictObject({ range: Range, environment: Environment }),
    response: ReleaseDetail,
    refusals: [404],
  },
})
