import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { symbolsKey } from '../../../api/symbol-queries.ts'
import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import { formatCount } from '../../../ui/format.ts'
import { symbolsTexts } from './texts.ts'

const texts = symbolsTexts.deletion

export type DeletedFile = {
  readonly projectId: string
  readonly id: string
  readonly name: string
  /** A source map or mapping; else a debug file. */
  readonly isCode: boolean
  /** Number of the newest events that are read with it. */
  readonly uses: number
}

/** Confirms that a file is deleted, by its typed name while events are read with it: it cannot be undone. */
export function DeleteDialog({ file, onClose }: { file: DeletedFile; onClose: () => void }) {
  const { projectId, id, name, isCode, uses } = file
  const remove = useChange({
    send: () =>
      isCode
        ? call('DELETE /api/projects/:projectId/source-maps/:mapId', { params: { projectId, mapId: id } })
        : call('DELETE /api/projects/:projectId/dsyms/:fileId', { params: { projectId, fileId: id } }),
    same: () => id,
    touches: () => [symbolsKey(projectId)],
    said: () => texts.done(name),
    failed: texts.failed,
  })
  const shared = {
    title: texts.title(name),
    submit: texts.button,
    isBusy: remove.isPending,
    onConfirm: () => remove.mutate(undefined, { onSettled: onClose }),
    onClose,
  }
  return uses > 0 ? (
    <TypedConfirm {...shared} text={texts.usedText(formatCount(uses))} word={name} />
  ) : (
    <ConfirmDialog {...shared} text={texts.text} />
  )
}
