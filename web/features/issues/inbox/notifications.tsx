import { useLayoutEffect, useRef, useState } from 'react'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Tabs } from '../../../ui/tabs.tsx'
import { AlertsPanel } from './alerts-panel.tsx'
import { Inbox } from './inbox.tsx'
import { bellTexts } from './bell-texts.ts'
import { inboxTexts } from './texts.ts'
import styles from './notifications.module.css'

type NotificationsProps = { unread: number; onClose: () => void }

/** The panel of the bell: alerts first, and the notifications of the member behind a second tab. */
export function Notifications({ unread, onClose }: NotificationsProps) {
  const [tab, setTab] = useState<'alerts' | 'inbox'>('alerts')
  const place = useRef<HTMLDivElement>(null)
  // The panel had the focus while its code was loading.
  useLayoutEffect(() => {
    const panel = place.current?.closest('[data-popover]')
    if (panel != null && panel === document.activeElement)
      place.current?.querySelector<HTMLElement>('[role="tab"][data-state="active"]')?.focus()
  }, [])
  return (
    <div ref={place} className={fitStyles.relative}>
      <Tabs
        label={bellTexts.notifications}
        value={tab}
        onChange={setTab}
        className={classNames(styles.tabs, choiceStyles.choices)}
        tabs={[
          { value: 'alerts', label: inboxTexts.alerts },
          {
            value: 'inbox',
            label: inboxTexts.forYou,
            ...(unread === 0
              ? {}
              : { after: <span className={styles.dot} role="img" aria-label={inboxTexts.unreadCount(unread)} /> }),
          },
        ]}
      >
        {tab === 'alerts' ? <AlertsPanel onClose={onClose} /> : <Inbox onClose={onClose} />}
      </Tabs>
    </div>
  )
}
