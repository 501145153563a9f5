import { Link, useMatchRoute } from '@tanstack/react-router'
import { carried, paths } from '../address/paths.ts'
import { shownTheme, switchTheme, usePrefs } from '../common/prefs.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { shared } from '../common/texts.ts'
import { shell } from './texts.ts'
import { useAccountEntries } from '../common/account-menu.tsx'
import { useSettingsProject } from './rail.tsx'
import { useScope } from '../common/use-scope.ts'

/** Below 860 px the rail becomes a bar of tabs at the foot. */
export function PhoneTabs() {
  const { projectId, chosenRange: range } = useScope()
  const settingsOf = useSettingsProject()
  const at = useMatchRoute()
  usePrefs()
  const inIssues = at({ to: '/issues', fuzzy: true }) !== false
  const inReleases = at({ to: '/releases', fuzzy: true }) !== false
  const inIntake = at({ to: '/intake' }) !== false
  const inProject = at({ to: '/projects/$projectId/settings', fuzzy: true }) !== false
  const other = shownTheme() === 'dark' ? 'light' : 'dark'
  const account = useAccountEntries([{ label: shared.theme[other], icon: 'sun', onSelect: switchTheme }])

  return (
    <nav className="tabbar" aria-label={shell.phone}>
      <Link
        {...paths.issues(carried({ ...(projectId === null ? {} : { project: projectId }), range }))}
        aria-current={inIssues ? 'page' : undefined}
      >
        <Icon name="issues" />
        <span>{shell.issues}</span>
      </Link>
      {settingsOf === null ? null : (
        <Link
          {...paths.releases(carried({ project: settingsOf, range }))}
          aria-current={inReleases ? 'page' : undefined}
        >
          <Icon name="tag" />
          <span>{shell.releases}</span>
        </Link>
      )}
      {settingsOf === null ? null : (
        <Link {...paths.intake(carried({ project: settingsOf, range }))} aria-current={inIntake ? 'page' : undefined}>
          <Icon name="download" />
          <span>{shell.intake}</span>
        </Link>
      )}
      {settingsOf === null ? null : (
        <Link {...paths.projectGeneral(settingsOf)} aria-current={inProject ? 'page' : undefined}>
          <Icon name="project" />
          <span>{shell.settings}</span>
        </Link>
      )}
      <Menu
        label={shell.more}
        side="top"
        align="end"
        entries={account}
        trigger={
          <button type="button">
            <Icon name="menu" />
            <span>{shell.more}</span>
          </button>
        }
      />
    </nav>
  )
}
