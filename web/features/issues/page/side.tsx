import { useQuery } from '@tanstack/react-query'
import { issueReleasesQuery, issueUsersQuery } from '../../../api/issue-event-queries.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { similarQuery } from '../../../api/grouping-queries.ts'
import type { ShellSearch } from '../../../address/search.ts'
import { AnalysisCard } from './analysis.tsx'
import { CandidatesCard } from './candidates.tsx'
import { DeviceCard } from './contexts/contexts.tsx'
import { NativeCrashCard } from './contexts/native-crash.tsx'
import { listFixSteps } from './fix-model.ts'
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
  const hasFix = listFixSteps(issue).length > 0
  const hasCandidates = issue.candidates.length > 0
  const release = event?.release ?? issue.last_release
  const reads = [
    useQuery(issueReleasesQuery(issue.id)),
    useQuery(issueUsersQuery(issue.id)),
    useQuery(similarQuery(issue.id)),
  ]
  // Cards appear together: each would move those below it.
  const isRead = reads.every(({ isPending }) => !isPending)
  return (
    <>
      {hasFix ? <FixCard issue={issue} /> : null}
      {hasCandidates ? <CandidatesCard issue={issue} /> : null}
      <AnalysisCard key={issue.id} issue={issue} />
      {event === null ? null : <NativeCrashCard event={event} />}
      <ReleaseNumbers code={issue.code} />
      {release === null ? null : <ReleaseCard projectId={issue.project_id} version={release} />}
      {event === null ? null : <DeviceCard event={event} traceId={issue.kept_trace_id} />}
      {isRead ? (
        <>
          <ReleasesCard issue={issue} onOnly={onOnly} />
          <UsersCard issue={issue} onOnly={onOnly} />
          {/* Empty places do not come before what there is. */}
          {hasFix ? null : <FixCard issue={issue} />}
          {hasCandidates ? null : <CandidatesCard issue={issue} />}
          <SimilarCard issue={issue} search={search} onMerge={onMerge} />
          <IssueGrouping issue={issue} />
        </>
      ) : null}
    </>
  )
}
