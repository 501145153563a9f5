import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useMatchRoute, useNavigate } from '@tanstack/react-router'
import { projectsQuery } from '../../../api/queries.ts'
import { paths } from '../../../address/paths.ts'
import type { PerformanceSearch } from '../../../address/search.ts'
import { ChooseProject } from '../../../frames/choose-project.tsx'
import { FilterChips, HealthFilters } from '../../../subjects/figures/filters.tsx'
import { useKeys } from '../../../app/keys.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { isMobilePlatform } from './page-kind.ts'
import { performanceTexts } from './texts.ts'
import { usePerformanceView } from './use-view.ts'
import styles from './performance-frame.module.css'

const TABS = [
  { key: 'start', to: '/performance', of: paths.performance },
  { key: 'screens', to: '/performance/screens', of: paths.screens },
  { key: 'anr', to: '/performance/anr', of: paths.anr },
  { key: 'battery', to: '/performance/battery', of: paths.battery },
] as const
/** The tabs of a project that is no mobile app. */
const OTHER_TABS = TABS.filter(({ key }) => key === 'start' || key === 'screens')

/** The head of the performance pages: title, tabs (`[` and `]`) and filters. */
export function PerformanceFrame() {
  const { view, search, change } = usePerformanceView()
  const projects = useQuery(projectsQuery)
  const at = useMatchRoute()
  const project = projects.data?.items.find(({ id }) => id === search.project)
  const isMobile = project === undefined || isMobilePlatform(project.platform)
  const tabs = isMobile ? TABS : OTHER_TABS
  const names = isMobile ? performanceTexts.tabs : performanceTexts.otherTabs
  const here = tabs.findIndex(({ to }) => at({ to }) !== false)
  const tab = names[tabs[here]?.key ?? 'start']
  usePageTitle(
    [performanceTexts.title, ...(here > 0 ? [tab] : []), ...(project === undefined ? [] : [project.name])].join(', '),
  )
  usePrefs()
  if (search.project === undefined)
    return (
      <PageMain>
        <PageHead>
          <h1>{performanceTexts.title}</h1>
        </PageHead>
        <ChooseProject search={search} pageOf={tabs[here]?.of ?? paths.performance} />
      </PageMain>
    )
  // A screen belongs to its tab.
  const { screen: _, order: __, ...kept } = search
  return (
    <PageMain>
      <PageHead
        className={styles.head}
        actions={
          <HealthFilters projectId={search.project} range={view.range} filters={view.filters} onChange={change} />
        }
      >
        <h1>{performanceTexts.title}</h1>
        <nav className={classNames(styles.tabs, choiceStyles.choices)} aria-label={performanceTexts.title}>
          <ul>
            {tabs.map(({ key, of }, index) => (
              <li key={key}>
                <Link {...of(kept)} activeOptions={{ exact: true }} aria-current={index === here ? 'page' : undefined}>
                  {names[key]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      </PageHead>
      {/* On a transaction the keys step through transactions. */}
      {here === -1 ? null : <TabKeys tabs={tabs} here={here} search={kept} />}
      <FilterChips filters={view.filters} onChange={change} />
      <Outlet />
    </PageMain>
  )
}

type TabKeysProps = { tabs: readonly (typeof TABS)[number][]; here: number; search: PerformanceSearch }

function TabKeys({ tabs, here, search }: TabKeysProps) {
  const navigate = useNavigate()
  const go = (step: number) => {
    const tab = tabs[(Math.max(0, here) + step + tabs.length) % tabs.length]
    if (tab !== undefined) void navigate(tab.of(search))
  }
  useKeys([
    { keys: '[', label: performanceTexts.previousTab, group: 'Page', run: () => go(-1), sheetOnly: true },
    { keys: ']', label: performanceTexts.nextTab, group: 'Page', run: () => go(1), sheetOnly: true },
  ])
  return null
}
