import { z } from 'zod'

/** The fields that answers use of what operations of the API answer. Others are ignored. */

const count = z.number()
const figure = z.number().nullable()

export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), total: count, total_capped: z.literal(true).optional() })

export const Issue = z.object({
  id: z.string(),
  short_id: z.string(),
  project_id: z.string(),
  title: z.string(),
  culprit: z.string(),
  status: z.string(),
  status_changed_at: z.string(),
  severity: z.string(),
  level: z.string(),
  is_unhandled: z.boolean(),
  assignee: z.object({ name: z.string() }).nullable(),
  first_seen: z.string(),
  last_seen: z.string(),
  first_release: z.string().nullable(),
  last_release: z.string().nullable(),
  event_count: count,
  user_count: count,
  event_count_in_range: figure,
  user_count_in_range: figure,
})
export type Issue = z.infer<typeof Issue>

export const Issues = page(Issue).extend({ status_counts: z.record(z.string(), count).optional() })

const Frame = z.object({
  function: z.string().nullable(),
  filename: z.string().nullable(),
  lineno: z.number().nullable(),
  in_app: z.boolean(),
})

export const IssueDetail = Issue.extend({
  event: z
    .object({
      exceptions: z.array(
        z.object({
          type: z.string().nullable(),
          value: z.string().nullable(),
          stacktrace: z.object({ frames: z.array(Frame) }).nullable(),
        }),
      ),
      breadcrumbs: z.array(z.object({ category: z.string().nullable(), message: z.string().nullable() })),
    })
    .nullable(),
  tag_distribution: z.array(
    z.object({
      key: z.string(),
      total: count,
      values: z.array(z.object({ value: z.string(), count })),
    }),
  ),
})

export const IssueUsers = page(
  z.object({ label: z.string().nullable(), key: z.string().nullable(), events: count, last_seen: z.string() }),
).extend({ looked_at: count, complete: z.boolean() })

export const IssueReleases = z.object({
  items: z.array(z.object({ release: z.string().nullable(), events: count })),
})

export const IssueEvents = z.object({ total: count, looked_at: count })

export const Release = z.object({
  id: z.string(),
  project_id: z.string(),
  version: z.string(),
  state: z.string(),
  released_at: z.string().nullable(),
  first_seen: z.string().nullable(),
  created_at: z.string(),
  adoption: figure,
  adoption_users: figure,
  sessions: figure,
  users: figure,
  crash_free_sessions: figure,
  crash_free_users: figure,
  new_issues: count,
  regressions: count,
  verdict: z.string(),
  verdict_reason: z.string(),
  verdict_numbers: z.object({
    sessions: count,
    crash_free_sessions: figure,
    fall: figure,
    is_significant: z.boolean(),
    previous: z.string().nullable(),
    decided_by: z.string().nullable(),
  }),
})
export type Release = z.infer<typeof Release>

export const ReleaseDetail = Release.extend({
  new_issue_list: z.array(Issue),
  regressed_issues: z.array(Issue),
})

export const Series = z.object({
  basis: z.string().nullable(),
  by: z.string().nullable(),
  interval_seconds: count,
  points: z.array(
    z.object({
      t: z.string(),
      value: figure,
      sessions: count.optional(),
      crashed: count.optional(),
      anr: count.optional(),
    }),
  ),
  total: figure,
  previous_total: figure,
  totals: z.object({ sessions: count.optional(), users: figure.optional(), anr_users: figure.optional() }),
  finding: z
    .object({
      kind: z.string(),
      since: z.string().optional(),
      before: z.number().optional(),
      after: z.number().optional(),
      release: z.string().nullish(),
    })
    .nullable(),
})
export type Series = z.infer<typeof Series>

export const Breakdown = z.object({
  sessions: count,
  rows: z.array(
    z.object({
      name: z.string().nullable(),
      share: count,
      sessions: count,
      crashed: count,
      anr: count,
      crash_rate: figure,
      anr_rate: figure,
    }),
  ),
})

const Quantiles = z.object({ p50_ms: figure, p75_ms: figure, p95_ms: figure, count })
const Start = Quantiles.extend({ previous: Quantiles })
const Vital = z.object({ p75: figure, count, previous_p75: figure })
export const Performance = z.object({
  cold_start: Start,
  warm_start: Start,
  frames: z.object({
    total: count,
    slow: count,
    frozen: count,
    slow_frame_ratio: figure,
    frozen_frame_ratio: figure,
  }),
  web_vitals: z.object({ lcp: Vital, inp: Vital, cls: Vital, fcp: Vital, ttfb: Vital }),
  anr_rate: figure,
  anrs: z.object({ count, previous: count }),
  anr_causes: z
    .array(z.object({ call: z.string(), count, short_id: z.string().nullable(), issue_id: z.string().nullable() }))
    .nullable(),
})

export const Screen = z.object({
  name: z.string(),
  op: z.string(),
  count,
  render: Quantiles,
  previous_p75_ms: figure,
  slow_frame_ratio: figure,
  frozen_frame_ratio: figure,
})
export const Transaction = z.object({
  name: z.string(),
  op: z.string(),
  count,
  p50: figure,
  p75: figure,
  p95: figure,
  failures: count,
  failure_rate: figure,
})

export const Volume = z.object({
  interval_seconds: count,
  points: z.array(z.object({ t: z.string(), events: count, fatal: count })),
  total: count,
  previous_total: count,
})

export const Alert = z.object({
  id: z.string(),
  rule_name: z.string(),
  title: z.string(),
  severity: z.string(),
  state: z.string(),
  fired_at: z.string(),
  project: z.object({ name: z.string() }),
})

export const Markers = z.object({
  items: z.array(z.object({ release_id: z.string(), version: z.string(), at: z.string() })),
})

export const Overview = z.object({
  cards: z.object({
    crash_rate: z.object({ value: figure, previous: figure }),
    anr_rate: z.object({ value: figure }),
    event_count: z.object({ value: figure, previous: figure }),
    user_count: z.object({ value: figure }),
  }),
  releases: z.array(
    z.object({ version: z.string(), adoption: figure, crash_free_sessions: figure, verdict: z.string() }),
  ),
  issues: z.object({ open: count, new: count, regressed: count, escalated: count, critical: count }),
  intake: z.object({
    accepted: count,
    filtered: count,
    rate_limited: count,
    dropped: count,
    events_per_day: figure,
    used_today: count,
  }),
})

const Guarded = z.object({ rate: figure, user_days: count, state: z.string().nullable() })
export const StoreGuard = z.object({
  window_days: count,
  limits: z.object({ crash_rate: z.number(), anr_rate: z.number(), device: z.number() }),
  crash: Guarded,
  anr: Guarded,
})

export const Project = z.object({ id: z.string(), name: z.string(), slug: z.string(), platform: z.string() })
export type Project = z.infer<typeof Project>
