import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { LogVolume } from '../../../api/log-queries.ts'
import { paths } from '../../../address/paths.ts'
import { GuideLink } from '../../../frames/guide-link.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatExact, formatWindow } from '../../../ui/format.ts'
import { selectedWindow } from '../../../address/search.ts'
import { isNarrowed } from './model.ts'
import { logsTexts as texts } from './texts.ts'

const route = getRouteApi('/signed-in/shell/logs')

/** Why there is no line, and when the last one came. */
export function NoLines({ projectId, volume }: { projectId: string; volume: LogVolume | undefined }) {
  const search = route.useSearch()
  const navigate = useNavigate()
  const { project, range } = search
  if (isNarrowed(search))
    return (
      <EmptyState
        kind="filtered"
        title={texts.emptyFiltered}
        actions={
          <Link {...paths.logs({ project, range })} {...buttonLook()}>
            {texts.clear}
          </Link>
        }
      >
        {texts.emptyFilteredText}
      </EmptyState>
    )
  const newest = volume?.newest_at ?? null
  if (newest === null)
    return (
      <EmptyState
        kind="setup"
        title={texts.emptyTitle}
        actions={
          <Link {...paths.onboarding({ project: projectId, step: 'sdk' })} {...buttonLook()}>
            {texts.setUp}
          </Link>
        }
      >
        {texts.emptyText} <GuideLink page="logs" />
      </EmptyState>
    )
  const window = selectedWindow(search)
  const when = window === null ? texts.inRange(range ?? '1h') : texts.inWindow(formatWindow(window.from, window.to))
  return (
    <EmptyState
      kind="filtered"
      title={texts.emptyTime(when)}
      actions={<Button onClick={() => void navigate(paths.logs({ project, at: newest }))}>{texts.showLast}</Button>}
    >
      {texts.emptyTimeText(formatExact(newest))}
    </EmptyState>
  )
}
