import { SettingRow } from '../../../frames/setting-row.tsx'
import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { devicesQuery, sessionsQuery, type OwnDevice, type OwnSession } from '../../../api/account-queries.ts'
import { call } from '../../../api/call.ts'
import { takeOut, useChange } from '../../../api/change.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatDay } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { LiveText } from '../../../ui/live-text.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { personalTexts } from './texts.ts'
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
        <ConfirmDialog
          title={texts.endOthersTitle}
          text={texts.endOthersText}
          submit={texts.endOthers}
          isBusy={endOthers.isPending}
          onConfirm={() => endOthers.mutate(undefined, { onSettled: close })}
          onClose={close}
        />
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
    guess: (client) => takeOut(client, sessionsQuery.queryKey, id),
    said: () => texts.ended,
    failed: texts.notEnded,
  })
  const parts = [ip, texts.methods[method], ...(showsOrg ? [org.name] : [])].filter((part) => part !== null)
  return (
    <SettingRow
      start={<Icon name={/mobile|android|iphone|ipad/i.test(user_agent ?? '') ? 'phone' : 'project'} />}
      hint={user_agent ?? undefined}
      title={device.label}
      more={
        <>
          {parts.join(', ')} <Time at={authenticated_at} as="since" />
        </>
      }
    >
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
    </SettingRow>
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
    guess: (client) => takeOut(client, devicesQuery.queryKey, id),
    said: () => texts.forgotten,
    failed: texts.notForgotten,
  })
  return (
    <SettingRow
      start={<Icon name="lock" />}
      title={label}
      more={
        <>
          {current ? `${texts.currentDevice}, ` : null}
          {texts.firstSeen(formatDay(first_seen_at))}
        </>
      }
    >
      <Minor>
        <Time at={last_seen_at} />
      </Minor>
      <Button size="sm" aria-label={texts.forgetOf(label)} onClick={() => forget.mutate(undefined)}>
        {texts.forget}
      </Button>
    </SettingRow>
  )
}
