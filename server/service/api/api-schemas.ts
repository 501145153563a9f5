import { OperatorStatus } from '../operator/operator.api.ts'
import { Difference, Import } from '../imports/imports.api.ts'
import { CanaryReport } from '../canary/canary.api.ts'
import { Attachment } from '../../events/attachments/attachments.api.ts'
import { AuditEntry, AuditVerification } from '../../history/audit/audit.api.ts'
import { Me, Organisation, RoleName } from '../../identity/auth/auth.api.ts'
import { Feedback, FeedbackDetail, InboxMessage } from '../../issues/feedback/feedback.api.ts'
import { FiltersPreview } from '../../ingest/filters/filters.api.ts'
import { GroupingPart } from '../../issues/grouping/grouping.api.ts'
import { InboxEntry, Subscription } from '../../issues/inbox/inbox.api.ts'
import { BulkOperation, BulkResult } from '../../issues/bulk/bulk.api.ts'
import { EventRow } from '../../issues/issue-events/issue-events.api.ts'
import { Discard, GroupingPreview, GroupingView } from '../../issues/merging/merging.api.ts'
import { Issue, IssueStatus, Person, Severity } from '../../issues/rules/issue.api.ts'
import { IgnoreUntil, IgnoreUntilInput, Resolution, ResolutionInput } from '../../issues/rules/life-cycle.api.ts'
import { Activity, Candidate, Comment, IssueDetail } from '../../issues/triage/issues.api.ts'
import { Intake, Outcome, Quota } from '../../ingest/outcomes/intake.api.ts'
import { Erasure } from '../erasure/privacy.api.ts'
import { ScrubbingPreview } from '../../ingest/scrubbing/scrubbing.api.ts'
import { GroupingRules } from '../../issues/grouping/grouping-rules.api.ts'
import { InboundFilters } from '../../ingest/filters/inbound-filters.api.ts'
import { EscalatingRules, SeverityRules } from '../../issues/rules/issue-settings.api.ts'
import { OwnershipRule } from '../../issues/ownership/ownership-rules.api.ts'
import { Platform, Project, ProjectKey, Region } from '../../projects/registry/projects.api.ts'
import { ProjectSettings } from '../project-settings/project-settings.api.ts'
import { Operation } from '../project-deletion/project-deletion.api.ts'
import { ScrubRule } from '../../events/protocol/scrub-rules.api.ts'
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
} from '../../events/protocol/event.api.ts'
import { Finding } from '../../insights/metrics/finding.api.ts'
import { Breakdown, MetricSeries, Overview, StoreGuard } from '../../insights/metrics/metrics.api.ts'
import {
  Comparison,
  ListedRelease,
  ReleaseDetail,
  ReleasesHealth,
  Verdict,
  VerdictNumbers,
} from '../../insights/release-health/release-health.api.ts'
import { Commit, Deploy, PatchEntry, ReleaseState, WholeRelease } from '../../projects/releases/releases.api.ts'
import { Member } from '../../identity/team/members.api.ts'
import { LogAttributes, LogItem, LogVolume, TraceMetricItem } from '../../telemetry/logs/telemetry.api.ts'
import { CheckInItem, MonitorView } from '../../telemetry/monitors/monitors.api.ts'
import { IssueView, ViewFilters } from '../../issues/views/views.api.ts'
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
  BulkResult,
  Canary: CanaryReport,
  CheckIn: CheckInItem,
  Comment,
  Commit,
  Comparison,
  DebugImage,
  Deploy,
  Discard,
  Erasure,
  EscalatingRules,
  Event,
  EventLevel,
  EventRequest,
  EventSummary: EventRow,
  EventUser,
  Exception,
  Feedback,
  FeedbackDetail,
  FiltersPreview,
  Finding,
  Frame,
  GroupingPart,
  GroupingPreview,
  GroupingRules,
  IgnoreUntil,
  IgnoreUntilInput,
  Import,
  ImportDifference: Difference,
  InboundFilters,
  InboxEntry,
  InboxMessage,
  Intake,
  Issue,
  IssueCandidate: Candidate,
  IssueDetail,
  IssueGrouping: GroupingView,
  IssueStatus,
  IssueView,
  ListedRelease,
  LogAttributes,
  LogEntry: LogItem,
  LogVolume,
  Me,
  Mechanism,
  Member,
  MetricSeries,
  Monitor: MonitorView,
  Operation,
  OperatorStatus,
  Organisation,
  Outcome,
  Overview,
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
  ReleasesHealth,
  ReleaseState,
  Resolution,
  ResolutionInput,
  Role: RoleName,
  ScrubbingPreview,
  ScrubRule,
  Severity,
  SeverityRules,
  Stacktrace,
  StoreGuard,
  Subscription,
  Tag,
  Thread,
  TraceMetric: TraceMetricItem,
  Verdict,
  VerdictNumbers,
  ViewFilters,
}
