/* mail.c - a locked list of messages. Its two users may wait for each other: neither runs on the
 * host's threads inside CUDA. */
#include "tracer/handover/mail.h"

#include "formats/base/memory.h"

#include <string.h>

enum { MAIL_MAX = 65536 };

void vtr_mailbox_init(struct vtr_mailbox *box)
{
	memset(box, 0, sizeof(*box));
	pthread_mutex_init(&box->lock, NULL);
	box->last = &box->first;
}

void vtr_mail_free(struct vtr_mail *mail)
{
	if (!mail || mail->lent)
		return;
	vpt_free(mail->key);
	vpt_free(mail->value);
	vpt_free(mail);
}

void vtr_mailbox_free(struct vtr_mailbox *box)
{
	struct vtr_mail *mail;

	while ((mail = vtr_mailbox_take(box)))
		vtr_mail_free(mail);
	pthread_mutex_destroy(&box->lock);
}

static void append(struct vtr_mailbox *box, struct vtr_mail *mail)
{
	*box->last = mail;
	box->last = &mail->next;
	box->count++;
}

int vtr_mailbox_post(struct vtr_mailbox *box, const struct vtr_mail *mail)
{
	struct vtr_mail *copy = vpt_calloc(1, sizeof(*copy));
	int full;

	if (!copy)
		return -1;
	*copy = *mail;
	copy->next = NULL;
	copy->key = mail->key ? vpt_strndup(mail->key, strlen(mail->key)) : NULL;
	copy->value = mail->value ? vpt_strndup(mail->value, strlen(mail->value)) : NULL;
	if ((mail->key && !copy->key) || (mail->value && !copy->value)) {
		vtr_mail_free(copy);
		return -1;
	}
	pthread_mutex_lock(&box->lock);
	full = box->count == MAIL_MAX;
	if (!full)
		append(box, copy);
	pthread_mutex_unlock(&box->lock);
	if (full)
		vtr_mail_free(copy);
	return full ? -1 : 0;
}

int vtr_mailbox_tell(struct vtr_mailbox *box, const char *key, const char *value)
{
	struct vtr_mail mail = {.type = VTR_MAIL_META,
		.key = (char *)(uintptr_t)key,
		.value = (char *)(uintptr_t)value};

	return vtr_mailbox_post(box, &mail);
}

int vtr_mailbox_fact(struct vtr_mailbox *box, enum vpt_metadata fact, const char *value)
{
	return vtr_mailbox_tell(box, vpt_metadata_key(fact), value);
}

void vtr_mailbox_lend(struct vtr_mailbox *box, struct vtr_mail *mail)
{
	mail->lent = 1;
	mail->next = NULL;
	pthread_mutex_lock(&box->lock);
	append(box, mail);
	pthread_mutex_unlock(&box->lock);
}

struct vtr_mail *vtr_mailbox_take(struct vtr_mailbox *box)
{
	struct vtr_mail *mail;

	pthread_mutex_lock(&box->lock);
	mail = box->first;
	if (mail) {
		box->first = mail->next;
		if (!box->first)
			box->last = &box->first;
		box->count--;
	}
	pthread_mutex_unlock(&box->lock);
	return mail;
}
