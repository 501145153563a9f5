import type { IssueDetail } from '../../../api/issue-queries.ts'
import type { ShellSearch } from '../../../address/search.ts'
import { AnalysisCard } from './analysis.tsx'
import { CandidatesCard } from './candidates.tsx'
import { DeviceCard } from './contexts/contexts.tsx'
import { NativeCrashCard } from './contexts/native-crash.tsx'
import { FixCard } from './fix.tsx'
import { IssueGrouping } from './grouping.tsx'
import { ReleasesCard, UsersCard } from './reach.tsx'
import { ReleaseNumbers } from './release-numbers.tsx'
import { ReleaseCard } from './release.tsx'
import { SimilarCard } from './similar.tsx'

type IssueSideProps = {
  issue: IssueDetail
  search: ShellSearch
  onOnly: (only: string) => void
  onMerge: () => void
}

/** The cards beside the main column; loaded after the page. */
export function IssueSide({ issue, search, onOnly, onMerge }: IssueSideProps) {
  const { event } = issue
  const release = event?.release ?? issue.last_release
  return (
    <>
      <FixCard issue={issue} />
      <CandidatesCard issue={issue} />
      <AnalysisCard key={issue.id} issue={issue} />
      {event === null ? null : <NativeCrashCard event={event} />}
      <ReleaseNumbers code={issue.code} />
      {release === null ? null : <ReleaseCard projectId={issue.project_id} version={release} />}
      {event === null ? null : <DeviceCard event={event} traceId={issue.kept_trace_id} projectId={issue.project_id} />}
      <ReleasesCard issue={issue} onOnly={onOnly} />
      <UsersCard issue={issue} onOnly={onOnly} />
      <SimilarCard issue={issue} search={search} onMerge={onMerge} />
      <IssueGrouping issue={issue} />
    </>
  )
}
