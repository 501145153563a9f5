import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { devicesQuery, sessionsQuery, type OwnDevice, type OwnSession } from '../../../api/account-queries.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { formatDay } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { LiveText } from '../../../ui/live-text.tsx'
import { Spacer, Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { personalTexts } from './texts.ts'
import settingsStyles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'
import styles from './personal.module.css'

const texts = personalTexts.sessions
const touchesSessions = () => [sessionsQuery.queryKey]

/** Where the user is logged in, and the devices they logged in with. */
export function SessionsPage() {
  return (
    <>
      <SettingsHead title={texts.title} of={null} lead={texts.lead} />
      <SessionsCard />
      <DevicesCard />
    </>
  )
}

function SessionsCard() {
  const sessions = useQuery(sessionsQuery)
  const [asks, setAsks] = useState(false)
  const endOthers = useChange({
    send: () => call('POST /api/auth/sessions/end-others'),
    same: () => 'others',
    touches: touchesSessions,
    said: ({ ended }) => texts.endedOthers(ended),
    failed: texts.notEnded,
  })
  const items = sessions.data?.items ?? []
  const close = () => setAsks(false)
  const severalOrgs = new Set(items.map(({ org }) => org.id)).size > 1
  return (
    <Card
      title={texts.list}
      header={
        <>
          <Spacer />
          <Button
            size="sm"
            why={items.some(({ current }) => !current) ? undefined : texts.noOthers}
            onClick={() => setAsks(true)}
          >
            {texts.endOthers}
          </Button>
        </>
      }
    >
      <PageQuery query={sessions} what={texts.what} rows={2}>
        {() => (
          <ul aria-label={texts.list}>
            {items.map((session) => (
              <SessionRow key={session.id} session={session} showsOrg={severalOrgs} />
            ))}
          </ul>
        )}
      </PageQuery>
      {asks ? (
        <Dialog open onClose={close} title={texts.endOthersTitle}>
          <p>{texts.endOthersText}</p>
          <Toolbar align="end">
            <Button onClick={close} data-autofocus>
              {appTexts.cancel}
            </Button>
            <Button
              look="danger"
              busy={endOthers.isPending}
              onClick={() => endOthers.mutate(undefined, { onSettled: close })}
            >
              {texts.endOthers}
            </Button>
          </Toolbar>
        </Dialog>
      ) : null}
    </Card>
  )
}

function SessionRow({ session, showsOrg }: { session: OwnSession; showsOrg: boolean }) {
  const { id, current, method, ip, user_agent, device, org, authenticated_at, last_used_at } = session
  const end = useChange({
    send: () => call('DELETE /api/auth/sessions/:sessionId', { params: { sessionId: id } }),
    same: () => id,
    touches: touchesSessions,
    guess: (client) =>
      client.setQueryData(sessionsQuery.queryKey, (list) =>
        list === undefined ? list : { ...list, items: list.items.filter((other) => other.id !== id) },
      ),
    said: () => texts.ended,
    failed: texts.notEnded,
  })
  const parts = [ip, texts.methods[method], ...(showsOrg ? [org.name] : [])].filter((part) => part !== null)
  return (
    <li className={classNames(settingsStyles.row, typeStyles.mediumNames, narrowStyles.wrapsAt600)}>
      <Icon name={/mobile|android|iphone|ipad/i.test(user_agent ?? '') ? 'phone' : 'project'} />
      <div title={user_agent ?? undefined}>
        <b>{device.label}</b>
        <Minor as="p">
          {parts.join(', ')} <Time at={authenticated_at} as="since" />
        </Minor>
      </div>
      {current ? (
        <LiveText>{texts.current}</LiveText>
      ) : (
        <>
          <Minor>
            <Time at={last_used_at} />
          </Minor>
          <Button size="sm" aria-label={texts.endOf(device.label)} onClick={() => end.mutate(undefined)}>
            {texts.end}
          </Button>
        </>
      )}
    </li>
  )
}

function DevicesCard() {
  const devices = useQuery(devicesQuery)
  const items = devices.data?.items ?? []
  return (
    <Card title={texts.devices} header={<Minor>{texts.devicesMore}</Minor>}>
      <PageQuery query={devices} what={texts.devices} rows={1}>
        {() =>
          items.length === 0 ? (
            <p className={styles.text}>{texts.noDevices}</p>
          ) : (
            <ul aria-label={texts.devices}>
              {items.map((device) => (
                <DeviceRow key={device.id} device={device} />
              ))}
            </ul>
          )
        }
      </PageQuery>
    </Card>
  )
}

function DeviceRow({ device: { id, label, first_seen_at, last_seen_at, current } }: { device: OwnDevice }) {
  const forget = useChange({
    send: () => call('DELETE /api/auth/devices/:deviceId', { params: { deviceId: id } }),
    same: () => id,
    touches: () => [devicesQuery.queryKey],
    guess: (client) =>
      client.setQueryData(devicesQuery.queryKey, (list) =>
        list === undefined ? list : { ...list, items: list.items.filter((other) => other.id !== id) },
      ),
    said: () => texts.forgotten,
    failed: texts.notForgotten,
  })
  return (
    <li className={classNames(settingsStyles.row, typeStyles.mediumNames, narrowStyles.wrapsAt600)}>
      <Icon name="lock" />
      <div>
        <b>{label}</b>
        <Minor as="p">
          {current ? `${texts.currentDevice}, ` : null}
          {texts.firstSeen(formatDay(first_seen_at))}
        </Minor>
      </div>
      <Minor>
        <Time at={last_seen_at} />
      </Minor>
      <Button size="sm" aria-label={texts.forgetOf(label)} onClick={() => forget.mutate(undefined)}>
        {texts.forget}
      </Button>
    </li>
  )
}
