import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { symbolsKey } from '../../../api/symbol-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { symbolsTexts } from './texts.ts'

const texts = symbolsTexts.deletion

export type DeletedFile = {
  readonly projectId: string
  readonly id: string
  readonly name: string
  /** A source map or mapping; else a debug file. */
  readonly isCode: boolean
}

/** Confirms that a file is deleted: it cannot be undone. */
export function DeleteDialog({ file, onClose }: { file: DeletedFile; onClose: () => void }) {
  const { projectId, id, name, isCode } = file
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
  return (
    <Dialog open onClose={onClose} title={texts.title(name)}>
      <p>{texts.text}</p>
      <Toolbar align="end">
        <Button data-autofocus onClick={onClose}>
          {appTexts.cancel}
        </Button>
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate(undefined, { onSettled: onClose })}>
          {texts.button}
        </Button>
      </Toolbar>
    </Dialog>
  )
}
