import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meQuery } from '../api/queries.ts'
import { useOrgEntries } from '../app/org-switch.ts'
import { appTexts } from '../app/texts.ts'
import { AttentionDot } from '../ui/attention-dot.tsx'
import choiceStyles from '../ui/choice.module.css'
import { classNames } from '../ui/class-names.ts'
import fitStyles from '../ui/fit.module.css'
import { Mark } from '../ui/mark.tsx'
import { Icon } from '../ui/icon.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { Menu } from '../ui/menu.tsx'
import { useDestinations, type Destination } from './destinations.ts'
import { shellTexts } from './texts.ts'
import styles from './rail.module.css'
import shellStyles from './shell.module.css'

/** The navigation on the left. */
export function Rail({ onJump }: { onJump: () => void }) {
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
    </aside>
  )
}

/** The organisation of the session; a menu for users of several. */
function Organisation() {
  const me = useQuery(meQuery)
  const entries = useOrgEntries()
  const name = me.data?.org.name
  if (entries.length === 0)
    return (
      <div className={styles.organisation}>
        <Mark />
        <span className={fitStyles.ellipsis}>{name}</span>
      </div>
    )
  return (
    <Menu
      label={appTexts.switchOrg}
      entries={entries}
      trigger={
        <button
          type="button"
          className={classNames(styles.organisation, choiceStyles.hovers)}
          title={appTexts.switchOrg}
        >
          <Mark />
          <span className={fitStyles.ellipsis}>{name}</span>
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
        <li key={key}>
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
