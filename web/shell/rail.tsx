import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { paths } from '../address/paths.ts'
import { meQuery } from '../api/queries.ts'
import { can } from '../app/can.ts'
import { useOrgEntries } from '../app/org-switch.ts'
import { appTexts } from '../app/texts.ts'
import { AttentionDot } from '../ui/attention-dot.tsx'
import choiceStyles from '../ui/choice.module.css'
import { classNames } from '../ui/class-names.ts'
import fitStyles from '../ui/fit.module.css'
import { Mark } from '../ui/mark.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { Menu } from '../ui/menu.tsx'
import { useDestinations, type Destination } from './destinations.ts'
import { shellTexts } from './texts.ts'
import styles from './rail.module.css'
import shellStyles from './shell.module.css'

/** The navigation on the left. @param children below it, once they are loaded */
export function Rail({ onJump, children }: { onJump: () => void; children: ReactNode }) {
  const destinations = useDestinations()
  return (
    <aside className={classNames(styles.side, shellStyles.wideOnly)}>
      <Organisation />
      <button className={classNames(styles.jump, choiceStyles.hovers)} type="button" onClick={onJump}>
        <Icon name="search" />
        <span>{shellTexts.jump}</span>
        <Kbd keys="mod+k" />
      </button>
      <nav className={fitStyles.contents} aria-label={shellTexts.main}>
        <DestinationList destinations={destinations.filter(({ group }) => group === 'pages')} />
      </nav>
      <nav className={styles.low} aria-label={shellTexts.settings}>
        <DestinationList destinations={destinations.filter(({ group }) => group === 'settings')} />
      </nav>
      <div className={styles.gauge}>{children}</div>
    </aside>
  )
}

/** The organisation of the session: a menu of its pages and of the user's other organisations. */
function Organisation() {
  const me = useQuery(meQuery)
  const navigate = useNavigate()
  const others = useOrgEntries()
  const role = me.data?.user.role ?? 'viewer'
  const page = (label: string, icon: IconName, link: Pick<LinkProps, 'to' | 'search'>) => ({
    label,
    icon,
    onSelect: () => void navigate(link),
  })
  return (
    <Menu
      label={shellTexts.organisation}
      entries={[
        page(shellTexts.settings, 'org', paths.organisationGeneral()),
        page(shellTexts.members, 'user', paths.members()),
        page(appTexts.apiKeys, 'key', paths.apiKeys()),
        ...(can(role, 'audit.read').allowed ? [page(shellTexts.audit, 'book', paths.audit())] : []),
        ...(others.length === 0 ? [] : [{ kind: 'separator' as const }, ...others]),
      ]}
      trigger={
        <button type="button" className={classNames(styles.organisation, choiceStyles.hovers)}>
          <Mark />
          <span className={fitStyles.ellipsis}>{me.data?.org.name}</span>
          <Icon name="updown" />
        </button>
      }
    />
  )
}

function DestinationList({ destinations }: { destinations: readonly Destination[] }) {
  return (
    <ul className={choiceStyles.choices}>
      {destinations.map(({ key, label, icon, link, isHere, badge }) => (
        <li key={key} data-key={key}>
          <Link {...link} aria-current={isHere ? 'page' : undefined}>
            <Icon name={icon} />
            <span>{label}</span>
            {badge === undefined ? null : badge === 'ring' ? (
              <span className={styles.ring} aria-hidden="true" />
            ) : badge === 'attention' ? (
              <AttentionDot className={fitStyles.atEnd} />
            ) : (
              <span className={styles.count} data-hot={badge.isHot === true ? '' : undefined}>
                {badge.count}
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  )
}
