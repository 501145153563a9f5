import type { Handlers } from '../../platform/context/handlers.ts'
import { errorForLog } from '../../platform/context/app.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { answerQuestion, checkScope } from './answer-question.ts'
import type { AnswerEvent, askRoutes } from './ask.api.ts'
import { openAnswer } from './open-answers.ts'

export const askHandlers: Handlers<typeof askRoutes> = {
  ask: async (app, actor, call) => {
    await checkScope(app, actor, call.body)
    const close = openAnswer(app, actor)
    const stream = call.openStream()
    const emit = (event: AnswerEvent): void => stream.send(null, event)
    try {
      await answerQuestion(app, actor, call.body, { signal: stream.signal, emit })
    } catch (error) {
      if (!stream.signal.aborted) {
        if (error instanceof AppError) emit({ error: error.message })
        else {
          app.log.error({ err: errorForLog(error) }, 'a question could not be answered')
          emit({ error: 'The question could not be answered because of an internal error, which was logged.' })
        }
      }
    } finally {
      close()
      stream.end('[DONE]')
    }
  },
}
