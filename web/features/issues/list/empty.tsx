import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { projectsQuery } from '../../../api/queries.ts'
import { useScope } from '../../../app/use-scope.ts'
import { paths } from '../../../address/paths.ts'
import { NO_FILTERS, type IssuesSearch, type Range } from '../../../address/search.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { emptyTexts } from './empty-texts.ts'
import { issuesTexts } from './texts.ts'
import { useTokens } from './filters.tsx'
import type { ViewName } from './views.tsx'

const LONGER: Readonly<Record<Range, Range | null>> = { '1h': '24h', '24h': '7d', '7d': '30d', '30d': null }

type EmptyStreamProps = {
  search: IssuesSearch
  range: Range
  view: ViewName | null
  onChange: (change: Partial<IssuesSearch>) => void
}

/** The empty state: not set up, hidden by filters, or no issues. */
export function EmptyStream({ search, range, view, onChange }: EmptyStreamProps) {
  const { projectId, project } = useScope()
  const projects = useQuery(projectsQuery).data?.items
  const tokens = useTokens(search)
  const scope = projectId === null ? projects : projects?.filter((one) => one.id === projectId)
  const longer = LONGER[range]
  const further =
    longer === null || range === '30d' ? undefined : (
      <Button onClick={() => onChange({ range: longer, from: undefined, to: undefined })}>
        {emptyTexts.showLonger[range]}
      </Button>
    )

  if (scope !== undefined && scope.every((one) => one.last_event_at === null)) {
    const [only] = scope
    const target = only === undefined ? paths.onboarding() : paths.onboarding({ project: only.id, step: 'sdk' })
    return (
      <EmptyState
        kind="setup"
        heading="h2"
        title={emptyTexts.emptySetup}
        actions={
          <Link {...target} {...buttonLook({ look: 'primary' })}>
            <span>{only === undefined ? emptyTexts.setUp : emptyTexts.connect(only.name)}</span>
          </Link>
        }
      >
        {emptyTexts.emptySetupText}
      </EmptyState>
    )
  }
  if (tokens.length > 0 || search.q !== undefined) {
    const names = [
      ...tokens.map((token) => `${token.name} ${token.value}`),
      ...(search.q === undefined ? [] : [`“${search.q}”`]),
    ]
    return (
      <EmptyState
        kind="filtered"
        heading="h2"
        title={emptyTexts.emptyFiltered}
        actions={
          <>
            <Button keys="escape" onClick={() => onChange(NO_FILTERS)}>
              {issuesTexts.clearFilters}
            </Button>
            {further}
          </>
        }
      >
        {emptyTexts.emptyFilteredText} <b>{names.join(', ')}</b>.
      </EmptyState>
    )
  }
  if (view === 'open' || view === null) {
    return (
      <EmptyState kind="good" heading="h2" title={emptyTexts.emptyGood} actions={further}>
        {emptyTexts.emptyGoodText(project?.name ?? emptyTexts.allProjectsIn, issuesTexts.rangeIn[range])}
      </EmptyState>
    )
  }
  return (
    <EmptyState kind="good" heading="h2" title={emptyTexts.emptyView[view]} actions={further}>
      {emptyTexts.emptyViewText(issuesTexts.rangeIn[range])}
    </EmptyState>
  )
}
