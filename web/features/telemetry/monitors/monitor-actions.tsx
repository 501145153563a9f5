import { useNavigate, type LinkProps } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { changeMonitor, monitorQuery, type Monitor } from '../../../api/monitor-queries.ts'
import { useCan } from '../../../app/can.ts'
import { useKeys } from '../../../app/keys.ts'
import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { monitorsTexts as texts } from './texts.ts'

/** The guess changes the monitor before the answer: Undo needs the state before. */
type Move = { readonly from: Monitor['state']; readonly to: Monitor['state'] }
type MonitorActionsProps = { monitor: Monitor; list: Pick<LinkProps, 'to' | 'search'>; onEdit: () => void }

/** Mute, pause, edit and delete a monitor. */
export function MonitorActions({ monitor, list, onEdit }: MonitorActionsProps) {
  const may = useCan('alerts.write')
  const [isDeleting, setDeleting] = useState(false)
  const move = useMove(monitor)
  const { state } = monitor
  const mute = () => move.mutate({ from: state, to: state === 'muted' ? 'active' : 'muted' })
  const muteLabel = state === 'muted' ? texts.unmute : texts.mute
  useKeys(
    may.allowed
      ? [
          ...(state === 'paused' ? [] : [{ keys: 'm', label: muteLabel, group: 'Page' as const, run: mute }]),
          { keys: 'e', label: texts.edit, group: 'Page', run: onEdit },
        ]
      : [],
  )
  const keys = (key: string) => (may.allowed ? key : undefined)
  return (
    <>
      {state === 'paused' ? null : (
        <Button icon="bell" keys={keys('m')} why={may.why} onClick={mute}>
          {muteLabel}
        </Button>
      )}
      <Button
        icon={state === 'paused' ? 'right' : 'pause'}
        look={state === 'paused' ? 'primary' : 'plain'}
        why={may.why}
        onClick={() => move.mutate({ from: state, to: state === 'paused' ? 'active' : 'paused' })}
      >
        {state === 'paused' ? texts.resume : texts.pause}
      </Button>
      <Button icon="pencil" keys={keys('e')} why={may.why} onClick={onEdit}>
        {texts.edit}
      </Button>
      <Menu
        label={texts.more}
        align="end"
        trigger={<IconButton icon="more" label={texts.more} />}
        entries={[
          { label: texts.deleteEntry, icon: 'trash', danger: true, why: may.why, onSelect: () => setDeleting(true) },
        ]}
      />
      {isDeleting ? <DeleteMonitor monitor={monitor} list={list} onClose={() => setDeleting(false)} /> : null}
    </>
  )
}

/** Changes the state; Undo brings the one before back. */
function useMove({ id, slug }: Monitor) {
  return useChange({
    send: ({ to }: Move) => changeMonitor(id, { state: to }),
    same: ({ to }) => to,
    touches: () => [['monitors']],
    guess: (client, { to: state }) =>
      client.setQueryData(monitorQuery(id).queryKey, (data) => (data === undefined ? data : { ...data, state })),
    settle: (client, answer) => client.setQueryData(monitorQuery(id).queryKey, answer),
    said: (_answer, { to }) => texts.moved[to](slug),
    undo: ({ from }) => changeMonitor(id, { state: from }),
    failed: texts.notMoved,
  })
}

type DeleteMonitorProps = Pick<MonitorActionsProps, 'monitor' | 'list'> & { onClose: () => void }

function DeleteMonitor({ monitor: { id, slug }, list, onClose }: DeleteMonitorProps) {
  const navigate = useNavigate()
  const remove = useChange({
    send: () => call('DELETE /api/monitors/:monitorId', { params: { monitorId: id } }),
    same: () => id,
    touches: () => [['monitors', 'list']],
    said: () => texts.deleted(slug),
    failed: texts.notDeleted,
  })
  return (
    <ConfirmDialog
      title={texts.deleteTitle}
      text={texts.deleteText(slug)}
      submit={texts.delete}
      isBusy={remove.isPending}
      onConfirm={() =>
        remove.mutate(undefined, { onSuccess: () => void navigate({ ...list, replace: true }), onError: onClose })
      }
      onClose={onClose}
    />
  )
}
