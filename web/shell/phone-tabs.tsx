import { Link, useNavigate } from '@tanstack/react-router'
import { useAccountEntries } from '../frames/account-menu.tsx'
import { useOrgEntries } from '../app/org-switch.ts'
import { switchTheme, useOtherTheme } from '../app/prefs.ts'
import { appTexts } from '../app/texts.ts'
import { classNames } from '../ui/class-names.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { useDestinations, type Destination } from './destinations.ts'
import { shellTexts } from './texts.ts'
import styles from './phone-tabs.module.css'
import shellStyles from './shell.module.css'

/** The number of tabs beside More; the design has room for five in all. */
const MAX_TABS = 4
const FIRST_TABS: readonly Destination['key'][] = ['issues', 'alerts', 'metrics', 'ask']

/** The destinations without a tab; an unfinished set-up never has one. */
function withTabs(destinations: readonly Destination[]): { tabs: Destination[]; rest: Destination[] } {
  const isFirst = ({ key }: Destination) => FIRST_TABS.includes(key)
  const tabs = [...destinations.filter(isFirst), ...destinations.filter((one) => !isFirst(one))]
    .filter(({ key }) => key !== 'setup')
    .slice(0, MAX_TABS)
  return { tabs, rest: destinations.filter((destination) => !tabs.includes(destination)) }
}

/** The tabs at the bottom that replace the rail below 860 px; More lists the other destinations. */
export function PhoneTabs() {
  const navigate = useNavigate()
  const { tabs, rest } = withTabs(useDestinations())
  const other = useOtherTheme()
  const account = useAccountEntries([{ label: appTexts.theme[other], icon: 'sun', onSelect: switchTheme }])
  const orgs = useOrgEntries()
  const more: MenuEntry[] = rest.map(({ label, icon, link }) => ({ label, icon, onSelect: () => void navigate(link) }))

  return (
    <nav className={classNames(styles.tabs, shellStyles.phoneOnly)} aria-label={shellTexts.phone} data-tabs>
      {tabs.map(({ key, label, tabLabel, icon, link, isHere, badge }) => (
        <Link key={key} {...link} aria-current={isHere ? 'page' : undefined}>
          <Icon name={icon} />
          <span>{tabLabel ?? label}</span>
          {typeof badge === 'object' && badge.isHot === true ? <b className={styles.hot}>{badge.count}</b> : null}
        </Link>
      ))}
      <Menu
        label={shellTexts.more}
        side="top"
        align="end"
        entries={[more, orgs, account].flatMap((part, i, parts) =>
          part.length > 0 && parts.slice(0, i).some(({ length }) => length > 0)
            ? [{ kind: 'separator' as const }, ...part]
            : part,
        )}
        trigger={
          <button type="button">
            <Icon name="menu" />
            <span>{shellTexts.more}</span>
          </button>
        }
      />
    </nav>
  )
}
