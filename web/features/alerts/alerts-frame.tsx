import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, Outlet, useMatchRoute, useNavigate } from '@tanstack/react-router'
import { recentAlertsQuery } from '../../api/attention-queries.ts'
import { alertRulesQuery } from '../../api/alert-queries.ts'
import { usePolling } from '../../api/live.ts'
import { carried, paths } from '../../address/paths.ts'
import { useCan } from '../../app/can.ts'
import { useKeys } from '../../app/keys.ts'
import { usePrefs } from '../../app/prefs.ts'
import { useScope } from '../../app/use-scope.ts'
import { Button } from '../../ui/button.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { formatCount } from '../../ui/format.ts'
import { PageHead } from '../../ui/page-head.tsx'
import { PageMain } from '../../ui/page-main.tsx'
import typeStyles from '../../ui/type.module.css'
import viewStyles from '../../ui/views.module.css'
import { CanaryResult } from './canary-result.tsx'
import { FreshSecrets } from './fresh-secrets.tsx'
import { alertsTexts } from './texts.ts'

/** A link is current by `isHere`, and not because its address begins alike. */
const EXACT = { exact: true, includeSearch: false } as const

/** The frame of the alerts pages: their views, the end-to-end test, and a new rule. */
export function AlertsFrame() {
  const { projectId } = useScope()
  const navigate = useNavigate()
  const at = useMatchRoute()
  const may = useCan('alerts.write')
  const project = carried({ project: projectId ?? undefined, range: undefined })
  const { project: ofProject } = project
  const polling = usePolling(15_000)
  const recent = useQuery({ ...recentAlertsQuery, refetchInterval: polling })
  const rules = useInfiniteQuery(alertRulesQuery(projectId))
  usePrefs()
  const isNew = at({ to: '/alerts/rules/new' }) !== false
  const newRule = () => void navigate(paths.newAlertRule({ project: ofProject }))
  useKeys(
    may.allowed && !isNew ? [{ keys: 'n', label: alertsTexts.newRule, group: 'Page' as const, run: newRule }] : [],
  )
  const firing = recent.data?.unread_count
  const total = rules.data?.pages[0]?.total
  const views = [
    {
      link: paths.alerts({ project: ofProject }),
      label: alertsTexts.firing,
      count: firing,
      isHere: at({ to: '/alerts' }),
    },
    {
      link: paths.alertHistory({ project: ofProject }),
      label: alertsTexts.history,
      count: undefined,
      isHere: at({ to: '/alerts/history' }),
    },
    {
      link: paths.alertRules({ project: ofProject }),
      label: alertsTexts.rules,
      count: total,
      isHere: at({ to: '/alerts/rules', fuzzy: true }),
    },
  ]
  return (
    <PageMain>
      <PageHead
        className={viewStyles.head}
        actions={
          isNew ? undefined : (
            <Button look="primary" icon="plus" keys={may.allowed ? 'n' : undefined} why={may.why} onClick={newRule}>
              {alertsTexts.newRule}
            </Button>
          )
        }
      >
        <h1>{alertsTexts.title}</h1>
        <nav className={classNames(viewStyles.views, choiceStyles.choices)} aria-label={alertsTexts.views}>
          {views.map(({ link, label, count, isHere }) => (
            <Link key={label} {...link} activeOptions={EXACT} aria-current={isHere === false ? undefined : 'page'}>
              {label}
              {count === undefined ? null : (
                <span className={classNames(viewStyles.count, typeStyles.softInCurrent)}>{formatCount(count)}</span>
              )}
            </Link>
          ))}
        </nav>
        <CanaryResult />
      </PageHead>
      <FreshSecrets>
        <Outlet />
      </FreshSecrets>
    </PageMain>
  )
}
