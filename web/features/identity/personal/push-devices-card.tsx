import { platformName } from '#shared/platforms.ts'
import { useQuery } from '@tanstack/react-query'
import { pushDevicesQuery, type PushDevice } from '../../../api/notification-queries.ts'
import { call } from '../../../api/call.ts'
import { takeOut, useChange } from '../../../api/change.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatDay } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { notificationsTexts } from './notifications-texts.ts'
import settingsStyles from '../../../frames/settings.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'
import styles from './personal.module.css'

const texts = notificationsTexts.devices

/** Phones and browsers of the user that receive pushes. */
export function PushDevicesCard() {
  const devices = useQuery(pushDevicesQuery)
  return (
    <Card title={texts.title} header={<Minor>{texts.more}</Minor>}>
      <PageQuery query={devices} what={texts.title} rows={1}>
        {(data) =>
          data.items.length === 0 ? (
            <p className={styles.text}>{texts.empty}</p>
          ) : (
            <ul aria-label={texts.title}>
              {data.items.map((device) => (
                <DeviceRow key={device.id} device={device} />
              ))}
            </ul>
          )
        }
      </PageQuery>
    </Card>
  )
}

function DeviceRow({ device }: { device: PushDevice }) {
  const { id, platform, provider, provider_configured: isConfigured, token } = device
  const name = `${platformName(platform)} ${token}`
  const touches = () => [pushDevicesQuery.queryKey]
  const remove = useChange({
    send: () => call('DELETE /api/notifications/devices/:deviceId', { params: { deviceId: id } }),
    same: () => id,
    touches,
    guess: (client) => takeOut(client, pushDevicesQuery.queryKey, id),
    said: () => texts.removed,
    failed: texts.notRemoved,
  })
  const test = useChange({
    send: () => call('POST /api/notifications/devices/:deviceId/test', { params: { deviceId: id } }),
    same: () => id,
    touches,
    failed: texts.notTested,
  })
  const send = () =>
    test.mutate(undefined, {
      onSuccess: ({ error, device_removed: isRemoved }) => {
        if (error === null) addToast({ text: texts.tested, tone: 'good' })
        else addToast({ text: isRemoved ? texts.testRemoved : texts.testFailed(error.text), tone: 'bad' })
      },
    })
  return (
    <li className={classNames(settingsStyles.row, typeStyles.mediumNames, narrowStyles.wrapsAt600, styles.device)}>
      <Icon name={platform === 'web' ? 'project' : 'phone'} />
      <div>
        <b>{platformName(platform)}</b> <Minor>{token}</Minor>
        <Minor as="p" bad={isConfigured && device.last_error !== null}>
          <DeviceState device={device} />
        </Minor>
      </div>
      <Button
        size="sm"
        aria-label={texts.testOf(name)}
        busy={test.isPending}
        why={isConfigured ? undefined : texts.off(texts.providers[provider])}
        onClick={send}
      >
        {texts.test}
      </Button>
      <Button size="sm" aria-label={texts.removeOf(name)} onClick={() => remove.mutate(undefined)}>
        {texts.remove}
      </Button>
    </li>
  )
}

function DeviceState({ device }: { device: PushDevice }) {
  const { provider, provider_configured: isConfigured, created_at: createdAt, last_sent_at: sentAt } = device
  const { last_error: error } = device
  if (!isConfigured) return texts.off(texts.providers[provider])
  if (error !== null)
    return (
      <>
        {texts.failed} {error.text} (<Time at={error.at} as="since" />)
      </>
    )
  return (
    <>
      {texts.providers[provider]}, {texts.added(formatDay(createdAt))},{' '}
      {sentAt === null ? (
        texts.never
      ) : (
        <>
          {texts.last} <Time at={sentAt} as="since" />
        </>
      )}
    </>
  )
}
