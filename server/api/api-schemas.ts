import { Attachment } from '../attachments/attachments.api.ts'
import { AuditEntry, AuditVerification } from '../audit/audit.api.ts'
import { Me, RoleName } from '../auth/auth.api.ts'
import { Feedback } from '../feedback/feedback.api.ts'
import { FiltersPreview } from '../filters/filters.api.ts'
import { GroupingPart } from '../grouping/grouping.api.ts'
import { InboxEntry, Subscription } from '../inbox/inbox.api.ts'
import { BulkOperation, BulkResult } from '../issue-bulk/bulk.api.ts'
import { EventRow } from '../issue-events/issue-events.api.ts'
import { Discard, GroupingPreview, GroupingView } from '../issue-merging/merging.api.ts'
import { Issue, IssueStatus, Person, Severity } from '../issue-rules/issue.api.ts'
import { IgnoreUntil, IgnoreUntilInput, Resolution, ResolutionInput } from '../issue-rules/life-cycle.api.ts'
import { Activity, Comment, IssueDetail } from '../issues/issues.api.ts'
import { Intake, Outcome, Quota } from '../outcomes/intake.api.ts'
import { Erasure } from '../privacy/privacy.api.ts'
import { ScrubbingPreview } from '../scrubbing/scrubbing.api.ts'
import { GroupingRules } from '../grouping/grouping-rules.api.ts'
import { InboundFilters } from '../filters/inbound-filters.api.ts'
import { EscalatingRules, SeverityRules } from '../issue-rules/issue-settings.api.ts'
import { OwnershipRule } from '../ownership/ownership-rules.api.ts'
import { Platform, Project, ProjectKey, Region } from '../projects/projects.api.ts'
import { ProjectSettings } from '../project-settings/project-settings.api.ts'
import { Operation } from '../project-deletion/project-deletion.api.ts'
import { ScrubRule } from '../protocol/scrub-rules.api.ts'
import {
  Breadcrumb,
  DebugImage,
  Event,
  EventLevel,
  EventRequest,
  EventUser,
  Exception,
  Frame,
  Mechanism,
  Stacktrace,
  Tag,
  Thread,
} from '../protocol/event.api.ts'
import { Finding } from '../metrics/finding.api.ts'
import { Breakdown, MetricSeries, Overview, StoreGuard } from '../metrics/metrics.api.ts'
import {
  Comparison,
  ListedRelease,
  ReleaseDetail,
  Verdict,
  VerdictNumbers,
} from '../release-health/release-health.api.ts'
import { Commit, Deploy, PatchEntry, ReleaseState, WholeRelease } from '../releases/releases.api.ts'
import { Member } from '../team/members.api.ts'
import { LogItem, TraceMetricItem } from '../telemetry/telemetry.api.ts'
import { CheckInItem } from '../monitors/monitors.api.ts'
import { IssueView, ViewFilters } from '../views/views.api.ts'
import type { NamedSchemas } from '../http/openapi.ts'

/** Schemas by the names they have in the API document and in clients generated from it. */
export const apiSchemas: NamedSchemas = {
  Activity,
  Attachment,
  AuditEntry,
  AuditVerification,
  Breadcrumb,
  Breakdown,
  BulkOperation,
  Operation,
  BulkResult,
  CheckIn: CheckInItem,
  Comment,
  Commit,
  DebugImage,
  Comparison,
  Deploy,
  Discard,
  EscalatingRules,
  Event,
  EventLevel,
  EventRequest,
  EventSummary: EventRow,
  EventUser,
  Exception,
  Erasure,
  Feedback,
  Finding,
  FiltersPreview,
  Frame,
  GroupingPart,
  GroupingPreview,
  GroupingRules,
  IgnoreUntil,
  IgnoreUntilInput,
  InboundFilters,
  InboxEntry,
  Intake,
  Issue,
  IssueDetail,
  IssueGrouping: GroupingView,
  IssueStatus,
  IssueView,
  ListedRelease,
  LogEntry: LogItem,
  Me,
  Mechanism,
  Member,
  MetricSeries,
  Overview,
  StoreGuard,
  Outcome,
  OwnershipRule,
  PatchEntry,
  Person,
  Platform,
  Project,
  ProjectKey,
  ProjectSettings,
  Quota,
  Region,
  Release: WholeRelease,
  ReleaseDetail,
  ReleaseState,
  Resolution,
  ResolutionInput,
  Role: RoleName,
  ScrubRule,
  ScrubbingPreview,
  Severity,
  SeverityRules,
  Stacktrace,
  Subscription,
  Tag,
  Thread,
  TraceMetric: TraceMetricItem,
  Verdict,
  VerdictNumbers,
  ViewFilters,
}
